"""Several paths for one transfer: total goodput, the load on each path, and the cost in CPU time."""

from experiment.several_paths import OF_PATH
from study_files.study_design import is_sampled
from topics.multipath.tables import AGGREGATION, PATH_SHARES
from topics.topic import Analysis, Plot, Topic, slug_of

#: CCAs whose file transfers are plotted over time: the paper's best and worst.
EXTREMES = ("cubic", "vegas")


def is_joined(scenario) -> bool:
    """Return whether a resolved scenario aggregates several paths by MPTCP or tunnels."""
    return scenario["multipath"]["by"] != "none"


def is_transfer(scenario) -> bool:
    """Return whether a resolved scenario transfers files."""
    return scenario["traffic"]["application"] == "ftp"


def joined_scenarios(design) -> tuple[str, ...]:
    """Return the scenarios that aggregate several paths."""
    return tuple(scenario["id"] for scenario in design.scenarios if is_joined(scenario))


def most_path_numbers(design) -> int:
    """Return the number of different path counts among scenarios that aggregate paths in the same way.

    If a study aggregates paths in several ways, the largest of these numbers is returned.
    """
    numbers = {}
    for scenario in filter(is_joined, design.scenarios):
        paths, application = scenario["multipath"], scenario["traffic"]["application"]
        if application == "iperf3" and len(set(paths["path_delay_ms"])) == 1:
            tunnels = (paths["tunnel_ip_version"], paths["distribution"]) if paths["by"] == "gre" else ()
            how = (paths["by"], *tunnels, scenario["platform"], scenario["link"]["rate_mbps"])
            numbers.setdefault(how, set()).add(paths["paths"])
    return max(map(len, numbers.values()), default=0)


def are_unlike(scenario) -> bool:
    """Return whether the aggregated paths of a resolved scenario differ in delay, rate, loss or queue."""
    paths = scenario["multipath"]
    return is_joined(scenario) and any(len(set(paths.get(key) or [0])) > 1 for key in ("path_delay_ms", *OF_PATH))


def has_unlike(design) -> bool:
    """Return whether a study includes a scenario that aggregates unequal paths, and a single-path scenario to compare with."""
    single = any(s["multipath"]["by"] == "none" and s["topology"] == "cable" for s in design.scenarios)
    return single and any(map(are_unlike, design.scenarios))


def drawn_ccas(design) -> list[str]:
    """Return the CCAs that are plotted over time: those of `EXTREMES` that the study includes, or else the study's first CCA."""
    return [cca for cca in EXTREMES if cca in design.ccas] or list(design.ccas[:1])


def has_transfers(design) -> bool:
    """Return whether a file transfer was recorded over time."""
    return any(is_sampled(scenario) and is_transfer(scenario) for scenario in design.scenarios)


def has_cpu(design) -> bool:
    """Return whether CPU time was measured, which requires a real clock."""
    return "host" in design.platforms


def _over_time(name, table, title, design):
    for cca in drawn_ccas(design):
        script, inputs, params = f"plot_{name.replace('-', '_')}", ("runs", "scenarios", table), {"cca_shown": cca}
        yield Plot(f"{name}-{slug_of(cca)}", script, inputs, f"{title}, {cca}", "single runs", params, name)


def _figures(design):
    cells, means = ("aggregation",), "means, intervals"
    if any(is_joined(scenario) and not are_unlike(scenario) for scenario in design.scenarios):
        yield Plot("environments", "plot_environments", cells, "Goodput by environment", f"{means}, ceilings")
    if has_unlike(design):
        yield Plot("unlike-paths", "plot_unlike_paths", cells, "Goodput over paths that differ", "ratios, intervals")
    if most_path_numbers(design) > 1:
        shows = "ratios, intervals, ceilings"
        yield Plot("aggregation", "plot_aggregation", cells, "Goodput by number of paths", shows)
    yield Plot("path-shares", "plot_path_shares", ("path_shares",), "Shares of the paths", "means, ranges")
    if has_transfers(design):
        yield from _over_time("transfer-rate", "sockets", "File transfer over time", design)
    if has_cpu(design):
        yield Plot("cpu-use", "plot_cpu_use", cells, title="CPU time by number of paths", shows=means)
        yield from _over_time("cpu-time", "cpu", "CPU use over time", design)


TOPIC = Topic(
    "multipath",
    "Paths",
    order=140,
    heading="What do several paths achieve together?",
    # With an outage, goodput doesn't show the effect of the number of paths: see the topic `failover`. For dumbbells, see `subflows`.
    applies=lambda design: (
        any(is_joined(s) and s["topology"] == "cable" for s in design.scenarios)
        and not any(s["multipath"].get("outage") for s in design.scenarios)
    ),
    analyses=(Analysis("compare_paths", ("runs", "paths", "scenarios"), (AGGREGATION, PATH_SHARES), ("confidence",)),),
    figures=_figures,
    pictures=("aggregation", "environments", "unlike-paths"),
    leads=lambda design: has_unlike(design) and all(map(are_unlike, filter(is_joined, design.scenarios))),
)
