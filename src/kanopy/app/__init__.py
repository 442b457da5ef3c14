"""A local page over the same library calls: see the hierarchies, move the sliders, take the release home.

The room in reading order:

- `project.py`, `history.py`: what is kept on disk, and every step of it to go back to. No page in sight.
- `bench.py`, `worker.py`: the work itself, done in processes of their own so that no page ever waits for it.
- `guard.py`, `server.py`: who may talk to the server, and the server.
- `answers.py`: who works, what is under way, and which answers are kept or found out ahead of being asked for.
- `desk.py`: what all windows share: the project, its table and its releases.
- `places/`: one file per place of the page; `widgets/`: the small parts they are made of.

Nothing is decided here: places show what the library says, and change the job as the library allows it.
"""
