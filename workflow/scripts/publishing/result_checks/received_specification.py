"""The specification of a run from a document of somebody else: checked before anything is run by it."""

from study_files import study as studies
from study_files.study_runs import SPECIFICATION_VERSION

KEYS = ("schema_version", "study", "scenario", "cca", "ip_version", "replication", "seed")


class SpecificationError(ValueError):
    """A specification that no study of this workflow gives."""


def check_specification(document, source) -> dict:
    """Return a received specification if it is one that the workflow itself could hand the testbed.

    It is taken for a study of one run, which is validated and completed as any study is.

    Parameters
    ----------
    document : object
        What stands as `specification` in a run document, parsed from JSON.
    source : str
        Where it was found, for the message.

    Returns
    -------
    dict
        The specification made anew, equal to the received one: its keys in the schema's order,
        every text and number within the schema's limits.

    Raises
    ------
    SpecificationError
        In one sentence for each problem: what is wrong, where, and what is allowed.
    """
    if not isinstance(document, dict) or set(document) != set(KEYS):
        raise SpecificationError(
            f"{source}: a run's specification has the keys {', '.join(KEYS)}, no more and no less."
        )
    version, seed = document["schema_version"], document["seed"]
    if type(version) is not int or version != SPECIFICATION_VERSION:
        raise SpecificationError(
            f"{source}: schema_version is {str(version)[:60]!r}; this workflow runs {SPECIFICATION_VERSION}."
        )
    study = {
        "study": document["study"],
        "seed": seed,  # has the limits of a study's
        "replications": document["replication"],
        "ccas": [document["cca"]],
        "ip_versions": [document["ip_version"]],
        "scenarios": [document["scenario"]],
    }
    try:
        resolved = studies.resolve(study, source)
    except studies.StudyError as error:
        raise SpecificationError(str(error)) from None
    conditions = studies.run_conditions(resolved, resolved["scenarios"][0]["id"])
    if conditions["scenario"] != document["scenario"]:
        raise SpecificationError(
            f"{source}: its scenario is not complete as the workflow writes it: "
            "without label, and with every key of every section."
        )
    of_run = {"cca": document["cca"], "ip_version": document["ip_version"], "replication": resolved["replications"]}
    return {**conditions, **of_run, "seed": resolved["seed"]}
