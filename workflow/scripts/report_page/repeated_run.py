"""Choose a run of a study that anyone can repeat, and state the commands that repeat it."""

import pandas as pd

from run_tables.reading import run_name
from study_files.program_ccas import programs_of_runs
from study_files.run_platforms import is_repeatable


def repeatable_run(runs, scenarios) -> pd.Series | None:
    """Return a run that anyone can repeat byte for byte, preferably a valid one; None if all runs used a real clock."""
    repeatable = runs[runs["scenario"].isin(scenarios.loc[scenarios["platform"].map(is_repeatable), "scenario"])]
    best = repeatable[repeatable["valid"]] if repeatable["valid"].any() else repeatable
    return None if best.empty else best.iloc[0]


def has_captures(run, scenarios) -> bool:
    """Return whether a run's packets can be captured afterwards; only the platform ``uml`` allows this."""
    return bool((scenarios.loc[scenarios["scenario"] == run["scenario"], "platform"] == "uml").all())


def runs_foreign_code(study) -> bool:
    """Return whether any run of a resolved study executes the study's own kernel or programs, which may come from third parties."""
    kernels = [one.get("source") or one.get("kernel") for one in study["cca_definitions"].values()]
    kernels += [scenario.get("kernel") for scenario in study["scenarios"]]
    return any(kernels) or bool(programs_of_runs(study))


def capture_command(study, run, foreign_code=False) -> str:
    """Return the shell command that captures a run's packets; ``run`` is a row of ``tidy/runs.csv`` with platform ``uml``.

    With ``foreign_code`` (`runs_foreign_code`), the command permits the execution of the study's own kernel and programs.
    """
    return f"make packets RUN=results/{study}/runs/{run_name(run)}.json.gz{' BUILD=1' if foreign_code else ''}"


def rerun_commands(study, run, sha256) -> list[str]:
    """Return the shell commands that repeat a run (a row of ``tidy/runs.csv``) and compare its document byte for byte.

    The commands use the study file that was published with the results, even if the original study file has changed since. ``sha256`` is
    the published checksum of the run's document, or None if the tables contain none.
    """
    document = f"results/{study}/runs/{run_name(run)}.json.gz"
    rerun = f"snakemake --cores 1 --use-apptainer --configfile results/{study}/workflow/study.json --force {document}"
    if sha256:
        return [rerun, f"echo '{sha256}  {document}' | sha256sum --check"]
    return [f"sha256sum {document}", rerun, f"sha256sum {document}"]
