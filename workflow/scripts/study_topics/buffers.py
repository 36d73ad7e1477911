"""Many flows and a small buffer: what each flow gets, and all of them together, against the buffer's size."""

from study_topics.topic import Figure, Topic


def _applies(design):
    return design.flows > 1 and design.buffers > 1 and not design.mixes


def _figures(design):
    for cca in design.ccas:
        yield Figure(f"flow-goodput-{cca}", "flow-goodput", {"cca": cca, "lines": "buffer"})
        yield Figure(f"flow-boxes-{cca}", "flow-boxes", {"cca": cca})
    yield Figure("buffer-totals", "buffer-totals", {"lines": "CCAs"})
    if design.series:
        yield Figure("pacing", "pacing", {"cca": paced_cca(design)})


def paced_cca(design):
    """Return the CCA whose pacing rate is shown: BBR, which sets its rate itself, or else the study's first."""
    return "bbr" if "bbr" in design.ccas else design.ccas[0]


TOPIC = Topic("buffers", "Buffers", applies=_applies, tables=("flow_goodput", "flow_goodput_cells"), figures=_figures)
