"""The interface of a run document to those who read it: what was asked for has the types of `specification`.

What was measured is read by sections; each has a module that knows it (`testbed.readings`, `run_tables`).
"""

from experiment.specification import RunSpecification


def specification_of(document) -> RunSpecification:
    """Return what a run document (`run.schema.json`) says was to be carried out.

    Raises
    ------
    KeyError
        If it says nothing of that.
    """
    return RunSpecification(document["specification"])
