"""Size and queueing discipline of the bottleneck's queue."""

import math

import pandas as pd

from experiment.disciplines import discipline_of, measure_of


def queue_words(queue) -> str:
    """Return the size of a queue in the form used in `tidy_tables.SCENARIOS`: "33 packets", "1 BDP" or "100000 bytes"."""
    measure, amount = measure_of(queue)
    return f"{amount:.10g} {'BDP' if measure == 'bdp' else measure}"


def whole_queue_words(queue) -> str:
    """Return a queue's size, discipline and non-default parameters as text; "" for None.

    Examples
    --------
    >>> whole_queue_words({"bdp": 1, "discipline": "codel", "target_ms": 15})
    '1 BDP, codel, target_ms 15'
    """
    if not queue:
        return ""
    return ", ".join(
        filter(None, (queue_words(queue), discipline_of(queue).name, parameter_words(queue, all_of_them=False)))
    )


def discipline_columns(scenario) -> dict[str, str]:
    """Return the columns ``discipline`` and ``ecn`` of runs and scenarios."""
    return {"discipline": discipline_of(scenario["queue"]).name, "ecn": scenario["transport"].get("ecn", "off")}


def parameter_words(queue, all_of_them=True) -> str:
    """Return the parameters of a queueing discipline as text, such as "target_ms 5, ecn true".

    Without ``all_of_them``, return only parameters that differ from the defaults.

    Examples
    --------
    >>> parameter_words({"packets": 9, "discipline": "pie", "target_ms": 15, "ecn": True}, all_of_them=False)
    'ecn true'
    """
    shown = (
        p for p in discipline_of(queue).parameters if p.name in queue and (all_of_them or queue[p.name] != p.default)
    )
    return ", ".join(f"{p.name} {_value_words(queue[p.name])}" for p in shown)


def _value_words(value):
    """Return a value as it is written in a study."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def queue_bdp(queue, held_bytes, rate_mbps, rtt_ms) -> float | None:
    """Return a queue's size in bandwidth-delay products (link rate times base RTT); None if rate, RTT or size is unknown.

    Parameters
    ----------
    queue : str
        Queue size from `queue_words`. A size in BDPs is returned unchanged, although rounding up to whole packets makes the queue slightly
        larger.
    held_bytes : float or None
        Size of the full queue in bytes (`queue_bytes` of `tidy_tables.RUNS`).
    rate_mbps, rtt_ms : float or None
        Link rate and base RTT.

    Examples
    --------
    At 10 Mbit/s and 20 ms, one BDP is 25,000 bytes. With packets of 322 and 1,514 bytes:

    >>> queue_bdp("100 packets", 100 * 322, 10, 20)
    1.288
    >>> queue_bdp("100 packets", 100 * 1514, 10, 20)
    6.056
    """
    amount, _, unit = queue.partition(" ")
    if unit == "BDP":
        return float(amount)
    known = [None if value is None or math.isnan(value) else value for value in (held_bytes, rate_mbps, rtt_ms)]
    if not all(known):
        return None
    held_bytes, rate_mbps, rtt_ms = known
    return float(f"{held_bytes / (rate_mbps * rtt_ms * 1000 / 8):.4g}")


def queues_of(runs) -> pd.DataFrame:
    """Return the sizes of a packet and of the full queue, in bytes, for each scenario and IP version.

    ``runs`` is ``tidy/runs.csv``. The columns are ``packet_bytes`` and ``queue_bytes``, indexed by (scenario, ip_version); a value is
    missing if no run recorded it.
    """
    return runs.groupby(["scenario", "ip_version"], sort=False)[["packet_bytes", "queue_bytes"]].first()
