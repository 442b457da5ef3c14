"""A monthly release with Dagster: `dagster dev -f examples/pipelines/dagster_release.py`.

`KANOPY_FOLDER` names the folder of `monthly.py`. Backfill months in their order, one at a time: each release must know
the ones before it.
"""

import os
import sys
from pathlib import Path

import dagster as dg

sys.path.insert(0, str(Path(__file__).parent))
from monthly import Stopped, release_month

MONTHS = dg.MonthlyPartitionsDefinition(start_date="2026-01", fmt="%Y-%m")


@dg.asset(partitions_def=MONTHS, pool="kanopy_ledger")
def release(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """The release of a month, safe together with all earlier ones."""
    try:
        made = release_month(Path(os.environ["KANOPY_FOLDER"]), context.partition_key)["made"]
    except Stopped as stop:
        raise dg.Failure(str(stop), allow_retries=False) from None
    return dg.MaterializeResult(metadata={name: made[name] for name in ("rows", "suppressed", "smallest_class")})


definitions = dg.Definitions(assets=[release])

if __name__ == "__main__":
    done = dg.materialize([release], partition_key=sys.argv[1], raise_on_error=False)
    sys.exit(0 if done.success else 1)
