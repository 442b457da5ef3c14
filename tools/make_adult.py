"""Make `src/kanopy/data/adult.parquet` from the two raw files of the UCI Adult data set.

    python tools/make_adult.py FOLDER      # holding adult.data[.gz] and adult.test[.gz]

Records keep their file order, `adult.data` first. `?` becomes null, numbers become integers, and the full stop that
the test file puts after the class is dropped.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import polars as pl

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
TARGET = Path(__file__).resolve().parents[1] / "src" / "kanopy" / "data" / "adult.parquet"


def lines(folder: Path, name: str) -> list[str]:
    """The non-empty record lines of one raw file, compressed or not."""
    packed = folder / f"{name}.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    return [line for line in data.decode("ascii").splitlines() if line.strip() and not line.startswith("|")]


def main() -> None:
    """Read both files, check the known number of records, write the Parquet file."""
    folder = Path(sys.argv[1])
    rows = [
        [None if field == "?" else field for field in line.rstrip(".").split(", ")]
        for name in ("adult.data", "adult.test")
        for line in lines(folder, name)
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row").with_columns(
        pl.col(name).cast(pl.Int64) for name in COLUMNS if name in NUMBERS
    )
    if frame.height != 48_842 or frame.drop_nulls().height != 45_222:
        raise SystemExit(f"Expected 48,842 records, 45,222 of them complete; found {frame.height:,}.")
    # Small types in the file only: `datasets.adult()` widens them again.
    small = frame.with_columns(frame[name].shrink_dtype() for name in COLUMNS if name in NUMBERS)
    small.write_parquet(TARGET, compression="zstd", compression_level=19, statistics=False)


if __name__ == "__main__":
    main()
