"""Names of multipath environments, and the single-path scenarios with which they are compared."""

from collections import Counter

import pandas as pd

from experiment.several_paths import OF_PATH
from wording.number_format import is_missing, plain
from wording.scenario_series import platform_name
from wording.scenario_words import ip_words
from wording.sentence_words import listed

#: Columns of `tidy/scenarios.csv` that aren't conditions of a transfer: names, descriptions of the paths and of the technique that
#: aggregates them, and values that follow from other columns. A scenario and its single-path scenario must agree in all other columns.
NO_CONDITIONS = {
    "scenario", "label", "conditions", "multipath", "paths", "tunnel_ip_version", "distribution", "path_delay_ms", "queue_packets",
    "rtt_path_ms", "capacity_least_mbps", "capacity_most_mbps", *OF_PATH,
}  # fmt: skip
#: Key of a value that is set for each path -> the columns that contain this value for a single path.
COLUMNS_OF_PATH = {
    "path_rate_mbps": ("rate_mbps",),
    "path_loss_percent": ("loss_forward_percent", "loss_reverse_percent"),
    "path_queue_packets": ("queue",),
}
#: Reason why goodput isn't compared with a multiple of a single path's goodput if the paths differ in rate, loss or queue.
UNLIKE_NOTE = "the paths differ in more than their delay, so they are compared with the best single path and with the sum of all single paths"
#: Conditions that the panel title always states.
TITLED = ("application", "rate_mbps", "platform")
#: Suffix of a column's name -> its unit.
UNITS = {"_ms": "ms", "_mbps": "Mbit/s", "_percent": "%", "_bytes": "bytes", "_s": "s"}
#: Environments in the order of the paper's figures.
ENVIRONMENTS = (
    "baseline4", "baseline6", "tun4_path4", "tun4_path6", "tun6_path4", "tun6_path6", "mptcp4", "mptcp6",
)  # fmt: skip
#: Suffix for an environment in which each connection stays in one tunnel. The paper doesn't include such environments.
PER_FLOW = "_per-flow"


def environment_name(by, tunnel_ip_version, ip_version, distribution="round-robin") -> str:
    """Return the paper's name for an environment: `tun4_path6` is IPv4 in tunnels over IPv6, and `baseline4` is plain TCP over IPv4.

    Tunnels that distribute connections instead of packets (`per-flow`) are called `tun4_path6_per-flow`.
    """
    inside = ip_version.removeprefix("ipv")
    if by == "gre":
        end = PER_FLOW if distribution == "per-flow" else ""
        return f"tun{inside}_path{tunnel_ip_version.removeprefix('ipv')}{end}"
    return f"{'mptcp' if by == 'mptcp' else 'baseline'}{inside}"


def environment_of(row) -> str:
    """Return the environment of a run; ``row`` contains the run's IP version and the scenario's columns from `with_paths`."""
    return environment_name(row["by"], row["tunnel_ip_version"], row["ip_version"], row["distribution"])


def joined_by(by, tunnel_ip_version, distribution="round-robin") -> str:
    """Return the technique that aggregates the paths: "MPTCP", "GRE over IPv6", "GRE over IPv6 per flow" or "plain TCP"."""
    if by == "gre":
        return f"GRE over {ip_words(tunnel_ip_version)}{' per flow' if distribution == 'per-flow' else ''}"
    return "MPTCP" if by == "mptcp" else "plain TCP"


def delays_ms(path_delay_ms) -> list[float]:
    """Return the delay of each path of a scenario in ms, parsed from the text in ``tidy/scenarios.csv``."""
    return [float(delay) for delay in path_delay_ms.split()]


def longer_words(path_delay_ms) -> str:
    """Report by how much the paths' delays exceed the shortest one: "path 4 takes 0.5 ms longer"; "" if all delays are equal."""
    delays, longer = delays_ms(path_delay_ms), {}
    for path, delay in enumerate(delays, start=1):
        if delay > min(delays):
            longer.setdefault(round(delay - min(delays), 9), []).append(str(path))
    parts = []
    for more, paths in longer.items():
        take = f"paths {listed(paths)} take" if len(paths) > 1 else f"path {paths[0]} takes"
        parts.append(f"{take} {plain(more)} ms longer")
    return listed(parts) if parts else ""


def unlike_words(row) -> str:
    """Describe how a scenario's paths differ, apart from their delays: "5 / 30 Mbit/s, 1 / 0 % loss"; "" if they don't differ."""
    units = {"path_rate_mbps": "Mbit/s", "path_loss_percent": "% loss", "path_queue_packets": "packets of queue"}
    values = {key: texts_of(row, key) for key in OF_PATH}
    return ", ".join(f"{' / '.join(texts)} {units[key]}" for key, texts in values.items() if len(set(texts)) > 1)


def texts_of(row, key) -> list[str]:
    """Return the value of ``key`` for each path of a scenario, as text; empty if all paths use the link's value.

    ``row`` is a row of ``tidy/scenarios.csv``, and ``key`` is one of `OF_PATH`.
    """
    return [] if is_missing(row[key]) else str(row[key]).split()


def with_paths(scenarios) -> pd.DataFrame:
    """Add columns about paths, the aggregation technique and single-path scenarios to the table ``tidy/scenarios.csv``.

    - ``paths``: number of paths;
    - ``by`` (none, mptcp, gre) and ``joined`` (in words): technique that aggregates the paths;
    - ``even``: whether all paths are alike;
    - ``unlike``: differences between the paths other than delay, in words;
    - ``conditions``: conditions, in words, that distinguish the scenario from others with the same application, rate and platform;
      usually empty;
    - ``baselines``: for each path, the scenario with plain TCP over this path alone under the same conditions, or None unless there is
      exactly one such scenario;
    - ``baseline``: the item of ``baselines`` for the path with the shortest delay, or None if the paths differ in more than
      their delay;
    - ``baseline_note``: the reason why ``baseline`` is None.
    """
    table = scenarios.assign(paths=scenarios["paths"].astype(int), by=scenarios["multipath"])
    rows = table.to_dict("records")
    table["joined"] = [joined_by(row["by"], row["tunnel_ip_version"], row["distribution"]) for row in rows]
    table["unlike"] = [unlike_words(row) for row in rows]
    delays = [delays_ms(row["path_delay_ms"]) for row in rows]
    table["even"] = [len(set(ms)) == 1 and not text for ms, text in zip(delays, table["unlike"], strict=True)]
    names = [name for name in scenarios.columns if name not in NO_CONDITIONS]
    table["conditions"] = _telling_words(table.to_dict("records"), [_conditions_of(row, names) for row in rows])
    places = [[_place_of_path(row, names, path) for path in range(int(row["paths"]))] for row in rows]
    single_paths = {}
    for row, of_paths in zip(rows, places, strict=True):
        if row["by"] == "none" and row["paths"] == 1:
            single_paths.setdefault(of_paths[0], []).append(row["scenario"])
    found = [[single_paths.get(place, []) for place in of_paths] for of_paths in places]
    table["baselines"] = [[_only(comparable) for comparable in of_paths] for of_paths in found]
    shortest = [of_paths[ms.index(min(ms))] for of_paths, ms in zip(found, delays, strict=True)]
    notes = zip(shortest, table["unlike"], strict=True)
    table["baseline_note"] = [UNLIKE_NOTE if text else _baseline_note(comparable) for comparable, text in notes]
    table["baseline"] = [None if text else _only(one) for one, text in zip(shortest, table["unlike"], strict=True)]
    return table


def _only(names):
    return names[0] if len(names) == 1 else None


def _conditions_of(row, names):
    texts = {name: "" if is_missing(row[name]) else str(row[name]) for name in names}
    own = {key: " / ".join(texts_of(row, key)) for key in OF_PATH}
    return texts | {"path_delay_ms": f"{min(delays_ms(row['path_delay_ms'])):g}"} | own


def _place_of_path(row, names, path):
    """Return one path's conditions (paths are numbered from 0); a single-path scenario with the same conditions gives an equal result."""
    texts = {name: "" if is_missing(row[name]) else str(row[name]) for name in names}
    later_ms = delays_ms(row["path_delay_ms"])[path]
    texts |= {name: f"{float(row[name]) + later_ms:g}" for name in ("delay_forward_ms", "delay_reverse_ms")}
    for key, columns in COLUMNS_OF_PATH.items():
        for column in columns if texts_of(row, key) else ():
            texts[column] = texts_of(row, key)[path] + (" packets" if column == "queue" else "")
    for column in ("rate_mbps", "loss_forward_percent", "loss_reverse_percent"):
        texts[column] = f"{float(texts[column]):g}" if texts[column] else ""
    return tuple(texts.items())


def _baseline_note(scenarios):
    if not scenarios:
        return "no single path under the same conditions to compare with"
    return f"several single paths under the same conditions: {listed(scenarios)}" if len(scenarios) > 1 else ""


def _telling_words(rows, places):
    """Return, in words, the conditions in which each scenario differs from multipath scenarios with the same panel title."""
    titles = [tuple(place[name] for name in TITLED) for place in places]
    whole = [
        (row["by"], row["joined"], row["paths"], row["path_delay_ms"], *place.items())
        for row, place in zip(rows, places, strict=True)
    ]
    groups = {}
    for row, place, title in zip(rows, places, titles, strict=True):
        if row["by"] != "none":
            groups.setdefault(title, []).append(place)
    alike = Counter(key for row, key in zip(rows, whole, strict=True) if row["by"] != "none")
    words = []
    for row, place, title, key in zip(rows, places, titles, whole, strict=True):
        others = groups.get(title, [])
        differing = [name for name in place if len({other[name] for other in others}) > 1]
        # A per-path value is empty if the paths use the link's value, which then describes the scenario.
        parts = [_condition_words(name, place[name]) for name in differing if place[name] or name not in OF_PATH]
        words.append(", ".join([*parts, *([f"scenario {row['scenario']}"] if alike[key] > 1 else [])]))
    return words


def _condition_words(name, value):
    for end, unit in UNITS.items():
        if name.endswith(end):
            stem = name.removesuffix(end).replace("_", " ")
            return f"{stem} {value.removesuffix('.0')} {unit}" if value else f"{stem} not set"
    return f"{name.replace('_', ' ')} {value.removesuffix('.0') or 'not set'}"


def with_platform(name, platform, platforms) -> str:
    """Return a panel's name, followed by the platform if the study has several platforms."""
    return f"{name}, {platform_name(platform)}" if len(set(platforms)) > 1 else name


def with_conditions(text, conditions) -> str:
    """Return a text, followed by any conditions that distinguish a scenario."""
    return f"{text}; {conditions}" if conditions else text


def environments_of(names) -> list[str]:
    """Return the distinct environments in a list, in the paper's order."""
    present = set(names)
    return [name + end for name in ENVIRONMENTS for end in ("", PER_FLOW) if name + end in present]
