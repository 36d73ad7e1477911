"""The outcome of a check, the verdict on a run, and functions that write values as text."""

from dataclasses import asdict, dataclass

#: Causes of a failed check: the instrument (the path, the hosts or the measurements weren't as requested), or the sender's behaviour on a
#: path that was as requested. Excluding runs because of the second cause would select runs by their outcome.
INSTRUMENT, SENDER = "instrument", "sender"


@dataclass(frozen=True)
class Check:
    """The outcome of a check.

    ``expected`` and ``observed`` describe in words what was expected and observed. If the check failed, ``cause`` is the cause of the
    failure: `INSTRUMENT` or `SENDER`.
    """

    name: str
    ok: bool
    expected: str
    observed: str
    cause: str = INSTRUMENT

    def entry(self) -> dict:
        """Return the check's entry in a run document's verdict, with ``cause`` only if the check failed."""
        return {name: value for name, value in asdict(self).items() if name != "cause" or not self.ok}


def verdict_of(checks) -> dict:
    """Return a run document's verdict: ``valid`` and the entries of all ``checks``."""
    return {"valid": all(check.ok for check in checks), "checks": [check.entry() for check in checks]}


def in_turn(texts) -> str:
    """Return the texts separated by semicolons, or only the first text if all are equal."""
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)


def words(values) -> str:
    """Return the distinct values as text, sorted and separated by commas, or "nothing" if there are no values."""
    return ", ".join(sorted({str(value) for value in values})) or "nothing"
