"""The specification of a run document, with the types of `specification`.

The document's measured sections are read by the modules responsible for them (`testbed.readings`, `run_tables`).
"""

from experiment.specification import RunSpecification


def specification_of(document) -> RunSpecification:
    """Return the specification of a run document (`run.schema.json`); raise `KeyError` if the document has none."""
    return RunSpecification(document["specification"])
