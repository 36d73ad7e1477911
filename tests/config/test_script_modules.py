"""What a rule declares besides its script: every module that the script can reach, and nothing else."""
import pytest
from script_modules import SCRIPTS, modules_of


def test_modules_are_followed_through_other_modules():
    modules = modules_of("tidy_runs")
    assert "workflow/scripts/run_tables/tidy_rows.py" in modules  # imported
    assert "workflow/scripts/run_tables/run_metrics.py" in modules  # by tidy_rows
    assert "workflow/scripts/tidy_runs.py" not in modules  # Snakemake's own business
    assert modules == tuple(sorted(modules))


def test_a_colour_concerns_figures_and_report_only():
    scripts = [path.stem for path in SCRIPTS.glob("*.py") if 'if "snakemake" in globals()' in path.read_text()]
    concerned = {name for name in scripts if "workflow/scripts/figure_parts/figure_style.py" in modules_of(name)}
    assert concerned
    assert all(name.startswith("plot_") or name == "write_report" for name in concerned), concerned
    assert {name for name in scripts if name.startswith("plot_")} <= concerned


def test_a_script_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError, match="plot_nothing"):
        modules_of("plot_nothing")
