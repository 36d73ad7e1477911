"""A run that could not be carried out: a document that says so, and why.

A study goes on without such a run: its document is the run's as any other, the same bytes
wherever it is made again, and judged invalid.
"""

from dataclasses import asdict

from experiment.specification import DOCUMENT_VERSION
from testbed.checks.check import Check

CHECK = "carried_out"
EXPECTED = "every step, to its end"


def document_of(specification, environment, step, cause) -> dict:
    """Return the document of a run that failed.

    Parameters
    ----------
    specification : dict
    environment : dict
        What the run ran on, as `environment.describe` has it.
    step, cause : str
        The step that failed, and why.
    """
    check = Check(CHECK, False, EXPECTED, f"step '{step}': {cause}")
    return {
        "schema_version": DOCUMENT_VERSION,
        "specification": specification,
        "environment": environment,
        "failure": {"step": step, "cause": cause},
        "verdict": {"valid": False, "checks": [asdict(check)]},
    }
