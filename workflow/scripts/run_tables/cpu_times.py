"""CPU times of the cores on which a run was executed: rows of ``tidy/cpu.parquet``, and columns of ``tidy/runs.csv``."""

import pyarrow

from run_tables.parquet import schema_of
from run_tables.series_tables import CPU

#: Column -> the parts of a core's time that are added up in it; ``softirq`` includes hard interrupts.
PARTS = {"user": ("user",), "system": ("system",), "softirq": ("irq", "softirq"), "steal": ("steal",)}
CPU_SCHEMA = schema_of(CPU)


def cpu_table(document, keys) -> pyarrow.Table:
    """Return a table of `CPU`: one row per core and interval between two readings; empty without CPU times.

    ``keys`` are the run's factors. The kernel estimates the parts of busy time by sampling, so their sum may differ from the busy time.
    """
    section, rows = document.get("cpu"), []
    for core, ticks in (section or {"cores": {}})["cores"].items():
        constant = keys | {"core": int(core), "role": ", ".join(ticks["roles"])}
        for place, (begin, end) in enumerate(zip(section["time_s"], section["time_s"][1:], strict=False)):
            share = section["tick_ms"] / 10 / (end - begin)  # share of one tick, in percent
            spent = {part: share * sum(ticks[name][place] for name in names) for part, names in PARTS.items()}
            row = constant | {"time_s": end, "busy_percent": 100 - share * ticks["idle"][place]}
            rows.append(row | {f"{part}_percent": percent for part, percent in spent.items()})
    return pyarrow.Table.from_pylist(rows, schema=CPU_SCHEMA)


def cpu_metrics(document, bytes_received) -> dict[str, float | None]:
    """Return the columns cpu_busy_percent and cpu_seconds_per_gbyte of `tidy_tables.RUNS`; both are None without CPU times.

    ``bytes_received`` is the total that all applications received, or None if it is unknown.
    """
    section = document.get("cpu")
    if not section:
        return {"cpu_busy_percent": None, "cpu_seconds_per_gbyte": None}
    elapsed_s = section["time_s"][-1] - section["time_s"][0]
    idle_s = [sum(ticks["idle"]) * section["tick_ms"] / 1e3 for ticks in section["cores"].values()]
    busy_s = sum(elapsed_s - idle for idle in idle_s)
    return {
        "cpu_busy_percent": 100 * busy_s / elapsed_s / len(idle_s),
        "cpu_seconds_per_gbyte": busy_s / (bytes_received / 1e9) if bytes_received else None,
    }
