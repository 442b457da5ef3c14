"""Machine code: kept on disk, found again, made anew when what it was made from changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kanopy._arrays import FloatRows, Floats, Ints, Longs, Mask
from kanopy._compiler import PLAIN, helper, is_prepared, kernel, machine_code, prepare
from kanopy._progress import Progress

pytestmark = pytest.mark.skipif(PLAIN, reason="loops run as plain Python here: install Numba and unset KANOPY_KERNELS")
FACTOR = 3
ROOT = Path(__file__).parents[2]


@helper
def _tripled(value: int) -> int:
    return FACTOR * value


def _every_kind(ints: Ints, longs: Longs, floats: FloatRows, mask: Mask, out: Floats, add: int, share: float) -> float:
    """All kinds of arrays."""
    total = 0.0
    for i in range(len(ints)):
        longs[i] = _tripled(ints[i]) + add
        for j in range(floats.shape[1]):
            if mask[j]:
                total += floats[i, j] * share
        mask[i % len(mask)] = ints[i] > 0
        out[i] = total
    return total


every_kind = kernel(_every_kind, makes_arrays=False)(_every_kind)


def _stepped(array: Longs, step: int) -> None:
    """A step of zero is an error."""
    for i in range(0, len(array), step):
        array[i] = 1


stepped = kernel(_stepped, makes_arrays=False)(_stepped)


def arrays() -> tuple[Ints, Longs, FloatRows, Mask, Floats]:
    return (
        np.array([1, -2, 3], np.int32), np.zeros(3, np.int64), np.arange(6.0).reshape(3, 2),
        np.array([True, False]), np.zeros(3),
    )  # fmt: skip


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(machine_code, "folder", lambda: tmp_path)
    return tmp_path


def test_machine_code_does_what_the_loop_does() -> None:
    compiled, plain = arrays(), arrays()
    assert every_kind(*compiled, 5, 0.5) == every_kind.loop(*plain, 5, 0.5)
    for one, other in zip(compiled, plain, strict=True):
        assert np.array_equal(one, other)


def test_a_wrong_array_is_refused() -> None:
    ints, *others = arrays()
    with pytest.raises(TypeError, match="ints must be int32 with 1 axes"):
        every_kind(ints.astype(np.int64), *others, 5, 0.5)
    with pytest.raises(TypeError, match="one element after the other"):
        every_kind(np.repeat(ints, 2)[::2], *others, 5, 0.5)


def test_machine_code_is_kept_and_found_again(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = machine_code.MachineCode(_every_kind)
    assert not first.is_ready()
    first(*arrays(), 5, 0.5)
    assert first.path.parent == empty
    monkeypatch.setattr(machine_code, "compile_loop", None)
    again = machine_code.MachineCode(_every_kind)
    assert again.is_ready()
    assert again(*arrays(), 5, 0.5) == first(*arrays(), 5, 0.5)


def test_a_change_in_what_a_loop_uses_makes_its_code_anew(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = machine_code.MachineCode(_every_kind).path
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert machine_code.MachineCode(_every_kind).path != before


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "folder", lambda: tmp_path / "no" / "such")
    assert machine_code.MachineCode(_every_kind)(*arrays(), 5, 0.5) == _every_kind(*arrays(), 5, 0.5)


def test_what_is_prepared_says_how_far_it_is(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANOPY_PREBUILT", "off")
    from kanopy.search.local.best.neighbours_kernel import look_around
    from kanopy.search.local.best.partition_kernel import fit_all

    kernels = [SimpleNamespace(code=machine_code.MachineCode(each.loop)) for each in (look_around, fit_all)]
    said: list[str] = []
    assert not is_prepared(kernels)
    prepare(kernels, Progress(lambda step: said.append(f"{step.stage}, {step.note}"), interval=0.0))
    assert is_prepared(kernels)
    assert said[0].startswith("preparing compiled code, 0 of 2")
    said.clear()
    prepare(kernels, Progress(lambda step: said.append(step.stage)))
    assert not said


def test_code_that_may_raise_an_error_loads_what_it_needs(empty: Path) -> None:
    code = (
        "import numpy as np; from tests.kernels.test_compiler import stepped; a = np.zeros(9, np.int64); "
        "stepped(a, 3); print(a.sum())"
    )
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "NUMBA_CACHE_DIR": str(empty)},
        )
        assert ran.stdout == "3\n"


@pytest.mark.skipif(not machine_code.PREBUILT_FITS, reason="machine code comes with Kanopy for Linux on x86-64 only")
def test_the_machine_code_that_comes_with_kanopy_is_of_the_loops_as_they_are() -> None:
    from kanopy._compiler.__main__ import every_kernel

    wanted = {machine_code.prebuilt_path(code) for code in every_kernel()}
    there = set(machine_code.PREBUILT.glob("*.bin"))
    assert there == wanted, "run `make prebuilt`: a loop was changed, added or removed"
    assert len(wanted) > 15
    assert all(machine_code.unsealed(path) is not None for path in there), "run `make prebuilt`"


def damaged(content: bytes) -> list[bytes]:
    """The same with a byte flipped somewhere, and cut short."""
    places = [0, 40, len(content) // 2, len(content) - 40, len(content) - 1]
    flipped = [content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :] for place in places]
    return [*flipped, content[: len(content) // 2], content[:-1], b""]


def test_damaged_machine_code_is_made_anew(empty: Path) -> None:
    """A truncated or flipped file ended in a segmentation fault."""
    first = machine_code.MachineCode(_every_kind)
    meant = first(*arrays(), 5, 0.5)
    whole = first.path.read_bytes()
    for content in damaged(whole):
        first.path.write_bytes(content)
        assert machine_code.unsealed(first.path) is None
    again = machine_code.MachineCode(_every_kind)
    assert again(*arrays(), 5, 0.5) == meant
    assert machine_code.unsealed(first.path) is not None


def test_damaged_machine_code_of_numba_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import numpy as np\nfrom kanopy._compiler import kernel\n\n\n"
        "@kernel()\ndef doubled(values):\n    return values * 2\n\n\nprint(doubled(np.arange(4)).tolist())\n"
    )
    cache = tmp_path / "cache"
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def run() -> None:
        command = [sys.executable, str(tmp_path / "own.py")]
        ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (0, "[0, 2, 4, 6]\n"), ran.stderr

    run()
    for suffix in (".nbc", ".nbi"):
        (file,) = cache.rglob(f"*{suffix}")
        whole = file.read_bytes()
        file.write_bytes(damaged(whole)[2])
        run()
        assert machine_code.unsealed(file) is not None
