"""Write a study that a command derives from another study: `make sensitivity`, `make exam`, `make evaluate`."""

from pathlib import Path

import yaml

from study_files import study as studies


def write_study(study, output, made_by) -> dict:
    """Write a study file and return the resolved study.

    Raises `studies.StudyError`, and writes nothing, if the study can't run as it is.

    Parameters
    ----------
    study : dict
        Study to write to the file.
    output : str or path
        Path of the file, next to the results: ``results/<study>.yaml``.
    made_by : str
        Command and source, for the first line of the file.
    """
    resolved = studies.resolve(study, str(output))
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
    Path(output).write_text(f"# Made by {made_by}.\n{text}", encoding="utf-8")
    return resolved


def size_words(output, resolved) -> str:
    """Return a text that names a study file and states how many scenarios and runs the study contains."""
    runs = sum(1 for _ in studies.runs(resolved))
    return f"{output}: {len(resolved['scenarios'])} scenarios, {runs:,} runs"
