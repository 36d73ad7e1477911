"""What the rules of the topic fairness do, for the tests' studies."""

import pandas as pd
import share_studies
from study_topics.fairness import figures

TABLES = {
    "measure_shares": ("flow_shares",),
    "compare_shares": ("shares", "share_pairs", "start_order"),
    "compare_factors": ("fairness_factors", "share_theory"),
}
SCRIPTS = {
    "fairness-shares": ("plot_shares", {"shown": "share"}),
    "fairness-jain": ("plot_shares", {"shown": "jain"}),
    "fairness-mixes": ("plot_share_mixes", {}),
}


def fairness_step(built):
    """Write the topic's tables and figures; flows that say nothing of what they got are drawn first."""
    if "goodput_mbps" not in pd.read_csv(built.table("flows"), nrows=1):
        share_studies.draw_flows(built.folder / "tidy")
    sockets = built.folder / "tidy" / "sockets.parquet"
    if not sockets.exists():
        share_studies.write_sockets(pd.read_csv(built.table("flows"), keep_default_na=False), sockets)
    inputs = {name: built.table(name) for names in TABLES.values() for name in names} | {"sockets": sockets}
    for script, names in TABLES.items():
        built.run(script, {name: built.table(name) for name in names}, inputs)
    for figure in figures(built.outline.design):
        script, params = SCRIPTS.get(figure.slug, ("", {}))
        if figure.caption == "fairness-factors":
            script, params = "plot_share_factors", {"shown": figure.words["cca_shown"]}
        elif figure.caption == "competition":
            script, params = "plot_competition", figure.words
        built.run(script, built.outputs(figure.slug), inputs, **params)
