"""The local app: a web page over the same library calls, to inspect a table, edit hierarchies and make releases.

The modules in reading order:

- `project.py`, `history.py`: what is stored on disk, with every step for undo and redo. No user interface.
- `worker.py`, `tasks/`: the work itself, done in processes of its own so that no page waits for it.
- `guard.py`, `server.py`: which requests the server answers, and the server.
- `task_cache.py`: tasks under way, and results that are kept or computed before they are asked for.
- `controller.py`: what all sessions share: the project, its table and its releases.
- `session.py`: one browser window, with the frame around the pages.
- `pages/`: one file per page; `widgets/`: the elements that pages are made of.

The app makes no decisions of its own: pages show what the library returns, and change the job as the library allows.
"""
