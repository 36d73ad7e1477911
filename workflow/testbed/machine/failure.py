"""The document of a failed run, which reports the failure and its reason.

A study continues without the failed run. The document has the form of an ordinary run document, and its verdict marks the run as invalid.
The same failure always gives the same bytes.
"""

from experiment.specification import DOCUMENT_VERSION
from testbed.checks.check import INSTRUMENT, SENDER, Check, verdict_of

CHECK = "carried_out"
EXPECTED = "every step completed"
#: Kinds of failure: the kernel crashed, or the run did not end.
CRASH, NOT_ENDED = "crash", "not ended"


def document_of(specification, environment, step, cause, kind=None) -> dict:
    """Return the document of a run that failed.

    Parameters
    ----------
    specification : dict
    environment : dict
        Environment of the run, as returned by `environment.describe`.
    step, cause : str
        Failed step, and reason for the failure.
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
