"""Several paths for one transfer: how much they give together, what each carries, and what that costs."""

from study_topics.topic import Figure, Topic

#: CCAs whose file transfers are drawn over time: the paper's best and worst.
EXTREMES = ("cubic", "vegas")


def drawn_ccas(design):
    """Return the CCAs that are drawn over time: those of `EXTREMES` that the study has, or else its first."""
    return [cca for cca in EXTREMES if cca in design.ccas] or list(design.ccas[:1])


def has_cpu(design):
    """Tell whether CPU time was measured: under a real clock."""
    return "host" in design.platforms


def _figures(design):
    yield Figure("environments")
    if design.path_numbers > 1:
        yield Figure("aggregation")
    yield Figure("path-shares")
    if design.transfers:
        for cca in drawn_ccas(design):
            yield Figure(f"transfer-rate-{cca}", "transfer-rate", {"cca_shown": cca})
    if has_cpu(design):
        yield Figure("cpu-use")
        for cca in drawn_ccas(design):
            yield Figure(f"cpu-time-{cca}", "cpu-time", {"cca_shown": cca})


TOPIC = Topic(
    "multipath", "Paths", applies=lambda design: design.multipath, tables=("aggregation", "path_shares"), figures=_figures
)
