"""CPU times of the cores that carried a run: rows of ``tidy/cpu.parquet``, and what follows for the run."""

import pyarrow

from run_tables.parquet import schema_of
from run_tables.tidy_tables import CPU

#: Shares of a core's time; ``softirq`` counts interrupts too.
PARTS = {"user": ("user",), "system": ("system",), "softirq": ("irq", "softirq"), "steal": ("steal",)}
CPU_SCHEMA = schema_of(CPU)


def cpu_table(document, keys) -> pyarrow.Table:
    """Return a table of `CPU`: a row for each core and interval between two readings; of no rows without CPU times.

    Parameters
    ----------
    document : dict
    keys : dict
        The run's factors.

    Returns
    -------
    pyarrow.Table
        ``time_s`` is the interval's end since the traffic's origin; ``busy_percent`` is all that isn't idle, which
        the kernel measures; what it consists of the kernel samples, so the parts need not add up.
    """
    section, rows = document.get("cpu"), []
    for core, ticks in (section or {"cores": {}})["cores"].items():
        constant = keys | {"core": int(core), "role": ", ".join(ticks["roles"])}
        for place, (begin, end) in enumerate(zip(section["time_s"], section["time_s"][1:], strict=False)):
            share = section["tick_ms"] / 10 / (end - begin)  # of a tick, in percent
            rows.append(
                constant
                | {"time_s": end, "busy_percent": 100 - share * ticks["idle"][place]}
                | {
                    f"{part}_percent": share * sum(ticks[name][place] for name in names)
                    for part, names in PARTS.items()
                }
            )
    return pyarrow.Table.from_pylist(rows, schema=CPU_SCHEMA)


def cpu_metrics(document, bytes_received) -> dict[str, float | None]:
    """Return what a run cost in CPU time, None where nothing was read.

    Parameters
    ----------
    document : dict
    bytes_received : float or None
        By all receiving applications.

    Returns
    -------
    dict
        ``cpu_busy_percent``: mean over the cores that carried the run while traffic flowed; ``cpu_seconds_per_gbyte``:
        their busy time, all cores together, over the data that arrived (10**9 bytes).
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
