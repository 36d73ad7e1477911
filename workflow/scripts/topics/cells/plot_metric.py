"""Draw one metric by scenario, CCA and IP version."""

from figure_parts.figure_svg import save_figure
from rule_script import run_rule
from run_tables.metrics import metric_by_slug
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import SCENARIOS
from study_files.study_design import cell_words
from topics.cells.cell_figure import draw_cell_figure, reference_value
from topics.cells.cell_figure_data import figure_data
from topics.cells.tables import DESCRIPTIVE


def main(inputs, outputs, params) -> None:
    """Read runs, their description and the scenarios, write figure and data."""
    runs, scenarios = read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS)
    metric = metric_by_slug(params.metric)
    data = figure_data(runs, read_table(inputs.descriptive, DESCRIPTIVE), metric)
    references = {name: reference_value(group, metric) for name, group in runs.groupby("scenario", sort=False)}
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    figure, panels = draw_cell_figure(data, scenarios, references, ccas, ip_versions, metric)
    save_figure(figure, panels, f"{metric.name} by {cell_words(ccas, ip_versions)}", data, outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
