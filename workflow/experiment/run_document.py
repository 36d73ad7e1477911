"""Access to the specification in a run document, as a `RunSpecification`.

Other modules read the document's measurements (`testbed.readings`, `run_tables`).
"""

from experiment.specification import RunSpecification


def specification_of(document) -> RunSpecification:
    """Return the specification of a run document (`run.schema.json`); raise `KeyError` if the document has none."""
    return RunSpecification(document["specification"])
