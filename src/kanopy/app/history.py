"""Every state a project was ever in, on disk, to go back and forth between.

A state is plain data and never changes: each step writes a file of its own, and one small file says which of them is
the present. A crash between the two leaves the present as it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kanopy._errors import DataError, JobError
from kanopy._files import private_folder, write_whole

LONGEST = 500
"""Steps that can be undone; older ones are forgotten."""
FORMAT = "kanopy-project"

State = dict[str, Any]


class History:
    """The states of a folder, one of which is the present.

    >>> import tempfile
    >>> history = History(Path(tempfile.mkdtemp()), {"k": 5})
    >>> history.add({"k": 10}, "k = 10")
    >>> history.undo(), history.now, history.redo(), history.now
    ('k = 10', {'k': 5}, 'k = 10', {'k': 10})
    >>> History(history.folder, {}).now
    {'k': 10}
    """

    def __init__(self, folder: Path, first: State) -> None:
        self.folder = folder
        self._known: dict[int, State] = {}
        self._numbers: list[int] = []
        self._words: list[str] = []
        self._at = 0
        self.revision = 0
        """Grows with every change, undone ones too: what tells an old view from the present."""
        private_folder(folder / "states")
        if self._index.exists():
            self._read()
        else:
            self._put(first, "the beginning")

    @property
    def _index(self) -> Path:
        return self.folder / "project.json"

    def _file(self, number: int) -> Path:
        return self.folder / "states" / f"{number:06d}.json"

    def _read(self) -> None:
        try:
            plain = json.loads(self._index.read_text("utf-8"))
            if plain["format"] != FORMAT:
                raise ValueError("another format")
            self._numbers = [int(number) for number in plain["states"]]
            self._words, self._at, self.revision = list(plain["words"]), int(plain["now"]), int(plain["revision"])
            self._known[self._numbers[self._at]] = json.loads(self._file(self._numbers[self._at]).read_text("utf-8"))
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise DataError(
                f"{self._index} is not a project of the app ({error}). Name another folder with --project."
            ) from None

    @property
    def now(self) -> State:
        """The present."""
        return self._state(self._at)

    def _state(self, at: int) -> State:
        number = self._numbers[at]
        if number not in self._known:
            self._known[number] = json.loads(self._file(number).read_text("utf-8"))
        return self._known[number]

    def add(self, state: State, words: str) -> None:
        """A new present; what had been undone is forgotten."""
        self._put(state, words)

    def _put(self, state: State, words: str) -> None:
        number = max(self._numbers, default=0) + 1
        write_whole(self._file(number), json.dumps(state, ensure_ascii=False), private=True)
        kept_numbers, kept_words = [*self._numbers[: self._at + 1], number], [*self._words[: self._at + 1], words]
        dropped = [*self._numbers[self._at + 1 :], *kept_numbers[:-LONGEST]]
        self._known[number] = state
        self._numbers, self._words, self._at = (
            kept_numbers[-LONGEST:],
            kept_words[-LONGEST:],
            len(kept_numbers[-LONGEST:]) - 1,
        )
        self._write()
        for old in dropped:
            self._known.pop(old, None)
            self._file(old).unlink(missing_ok=True)

    def _write(self) -> None:
        self.revision += 1
        plain = {
            "format": FORMAT, "version": 1, "revision": self.revision, "states": self._numbers, "words": self._words,
            "now": self._at,
        }  # fmt: skip
        write_whole(self._index, json.dumps(plain, ensure_ascii=False, indent=1), private=True)

    @property
    def undoable(self) -> str:
        """What `undo` would take back, in words; nothing if it cannot."""
        return self._words[self._at] if self._at else ""

    @property
    def redoable(self) -> str:
        """What `redo` would do again, in words; nothing if it cannot."""
        return self._words[self._at + 1] if self._at + 1 < len(self._numbers) else ""

    @property
    def steps(self) -> list[tuple[str, bool]]:
        """Every step in words, and whether it lies at or before the present."""
        return [(words, at <= self._at) for at, words in enumerate(self._words)]

    def mentions(self, source: str) -> bool:
        """Whether any state is about a table."""
        return any(self._state(at).get("source") == source for at in range(len(self._numbers)))

    def undo(self) -> str:
        """One step back; says which."""
        if not self._at:
            raise JobError("There is nothing to undo.")
        self._at -= 1
        self._write()
        return self._words[self._at + 1]

    def redo(self) -> str:
        """One step forward again; says which."""
        if self._at + 1 == len(self._numbers):
            raise JobError("There is nothing to redo.")
        self._at += 1
        self._write()
        return self._words[self._at]
