"""Draw who beats whom as heat maps of CCA against CCA: shares of the link, or Jain's index."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pingouin", "matplotlib")

import pandas as pd
from figure_parts.figure_svg import save_figure
from figure_parts.matrix_figure import Scale, draw_matrices
from figure_parts.share_words import scenario_name, share_conditions
from run_tables.tidy_columns import SCENARIOS, read_table
from scenario_words import ip_words
from share_tables.flow_shares import ccas_of, read_flow_shares

PAIRS = dict.fromkeys("scenario scenario_label ip_version row_cca column_cca orders note".split(), "text") | dict.fromkeys(
    "replications runs share share_low share_high share_mean jain jain_low jain_high jain_min".split(), "number"
)
SCALES = {
    "share": Scale("Share of the row's CCA against the column's", "share", (0.1, 0.25, 0.4, 0.6, 0.75, 0.9), True),
    "jain": Scale("Jain's fairness index of row and column", "index", (0.55, 0.6, 0.7, 0.8, 0.9, 0.95), False),
}


def rtts_of_positions(flows):
    """Return scenario -> RTT of the empty paths of the positions in ms, in their order.

    Parameters
    ----------
    flows : pandas.DataFrame
        ``analysis/flow_shares.csv``.
    """
    means = flows.groupby(["scenario", "position"], sort=True)["rtt_path_ms"].mean()
    return {scenario: list(of.to_numpy()) for scenario, of in means.groupby(level=0, sort=False)}


def whole_matrix(pairs, flows):
    """Return the pairs with a row for each cell that the study's mixes fill, also where no run is valid."""
    mixes = [mix for mix in flows["cca"].unique() if len(ccas_of(mix)) == 2]
    ccas = list(dict.fromkeys(cca for mix in mixes for cca in ccas_of(mix)))
    filled = {tuple(ccas_of(mix)) for mix in mixes} | {tuple(reversed(ccas_of(mix))) for mix in mixes}
    named = [(row, column) for row in ccas for column in ccas if (row, column) in filled]
    places = flows[["scenario", "ip_version"]].drop_duplicates()
    cells = places.merge(pd.DataFrame(named, columns=["row_cca", "column_cca"]), how="cross")
    return cells.merge(pairs, how="left", on=list(cells.columns)).fillna({"note": "no valid run"})


def panels_of(scenarios, flows):
    """Return a panel for each scenario and IP version."""
    rtts, ip_versions = rtts_of_positions(flows), list(flows["ip_version"].unique())
    return [
        {
            "scenario": scenario["scenario"], "ip_version": ip_version,
            "title": scenario_name(scenario) + (f", {ip_words(ip_version)}" if len(ip_versions) > 1 else ""),
            "conditions": share_conditions(scenario, rtts.get(scenario["scenario"], ())),
        }
        for scenario in scenarios.to_dict("records")
        for ip_version in ip_versions
    ]  # fmt: skip


def main(inputs, outputs, params):
    """Read the pairs' shares, write figure and data."""
    pairs, scenarios = read_table(inputs.share_pairs, PAIRS), read_table(inputs.scenarios, SCENARIOS)
    scale, flows = SCALES[params.shown], read_flow_shares(inputs.flow_shares)
    cells = whole_matrix(pairs, flows)
    figure, panels = draw_matrices(cells.assign(value=cells[params.shown]), panels_of(scenarios, flows), scale)
    save_figure(figure, panels, scale.title, pairs[list(PAIRS)], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
