"""A monthly release with Airflow 3: put this file and `monthly.py` into the folder of DAGs.

`KANOPY_FOLDER` names the folder of `monthly.py`. One run at a time, because each release must know the ones before it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pendulum
from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task

sys.path.insert(0, str(Path(__file__).parent))
from monthly import Stopped, release_month


@dag(
    schedule="@monthly",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "depends_on_past": True},
)
def monthly_release() -> None:
    """Release the table of the month that has ended."""

    @task
    def release(logical_date: Any = None) -> dict[str, Any]:
        try:
            figures = release_month(Path(os.environ["KANOPY_FOLDER"]), logical_date.strftime("%Y-%m"))
        except Stopped as stop:
            raise AirflowFailException(str(stop)) from None  # not tried again
        # What a task returns is kept in the database of Airflow: figures, no messages.
        return {name: figures["made"][name] for name in ("rows", "suppressed", "smallest_class")}

    release()


series = monthly_release()

if __name__ == "__main__":
    run = series.test(logical_date=pendulum.parse(f"{sys.argv[1]}-01"))
    sys.exit(0 if str(run.state) == "success" else 1)
