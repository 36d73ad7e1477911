"""Draw one metric by scenario, CCA and IP version."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.cell_figure import write_cell_figure
from run_tables.metrics import metric_by_slug
from run_tables.tidy_columns import DESCRIPTIVE, SCENARIOS, read_runs, read_table


def main(inputs, outputs, params):
    """Read runs, their description and the scenarios, write figure and data."""
    write_cell_figure(
        runs=read_runs(inputs.runs),
        descriptive=read_table(inputs.descriptive, DESCRIPTIVE),
        scenarios=read_table(inputs.scenarios, SCENARIOS),
        metric=metric_by_slug(params.metric),
        svg_path=outputs.figure,
        csv_path=outputs.data,
    )


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
