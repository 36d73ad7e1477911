"""A run that could not be carried out: a document that says so, and why.

A study goes on without such a run: its document is the run's as any other, the same bytes
wherever it is made again, and judged invalid.
"""

from experiment.specification import DOCUMENT_VERSION
from testbed.checks.check import INSTRUMENT, SENDER, Check, verdict_of

CHECK = "carried_out"
EXPECTED = "every step, to its end"
#: What a failure may be in addition: the kernel crashed, or the run did not end.
CRASH, NOT_ENDED = "crash", "not ended"


def document_of(specification, environment, step, cause, kind=None) -> dict:
    """Return the document of a run that failed.

    Parameters
    ----------
    specification : dict
    environment : dict
        What the run ran on, as `environment.describe` has it.
    step, cause : str
        The step that failed, and why.
    kind : str, optional
        `CRASH` or `NOT_ENDED`.
    """
    check = Check(CHECK, False, EXPECTED, f"step '{step}': {cause}", SENDER if kind else INSTRUMENT)
    return {
        "schema_version": DOCUMENT_VERSION,
        "specification": specification,
        "environment": environment,
        "failure": {"step": step, "cause": cause, **({"kind": kind} if kind else {})},
        "verdict": verdict_of([check]),
    }
