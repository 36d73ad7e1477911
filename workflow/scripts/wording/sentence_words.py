"""Names and numbers for sentences: the usual names of CCAs, and scenarios with their conditions."""

from wording.number_format import is_missing, number, p_value, rounded
from wording.scenario_words import ip_words, shared_and_own

# Name of a kernel module -> spelling used by the CCA's authors and in RFCs.
CCA_NAMES = {
    **{name: name.upper() for name in ("bbr", "bic", "cdg", "cubic", "dctcp", "nv")},
    **{name: name.capitalize() for name in ("hybla", "illinois", "reno", "scalable", "vegas", "veno", "westwood")},
    **{"highspeed": "HighSpeed", "htcp": "H-TCP", "lp": "TCP-LP", "yeah": "YeAH"},
}


def cca_name(name) -> str:
    """Return the usual name of a CCA, or the given name if there is no other; the names in a mix are joined by `+`."""
    return "+".join(CCA_NAMES.get(part, part) for part in name.split("+"))


def listed(names) -> str:
    """Return names as a list within a sentence: "Vegas, Veno and Westwood"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(value) -> str:
    """Return a number with three significant digits; numbers of 1,000 or more, and very small ones, are in the form of `number`."""
    if is_missing(value) or abs(value) >= 1000 or 0 < abs(value) < 0.001:
        return number(value)
    return rounded(value, 3)


def between(values) -> str:
    """Return the range of values, such as "5.31 to 81.2", or one number if both ends are the same when rounded."""
    low, high = short(min(values)), short(max(values))
    return low if low == high else f"{low} to {high}"


def p_words(value) -> str:
    """Return a p-value in the form "p < 0.001" or "p = 0.413"."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def place_words(row, scenarios, one_ip_version=False) -> str:
    """Return a phrase for a scenario and IP version, with the conditions that distinguish the scenario.

    Parameters
    ----------
    row : mapping
        Contains scenario and ip_version.
    one_ip_version : bool
        Whether the study uses only one IP version, which then isn't named.

    Returns
    -------
    str
        "scenario 3 over IPv6 (RTT 200 ms, 1 % loss, 12 flows)".
    """
    own = dict(
        zip(scenarios["scenario"], zip(scenarios["label"], shared_and_own(scenarios)[1], strict=True), strict=True)
    )
    label, apart = own[row["scenario"]]
    over = "" if one_ip_version else f" over {ip_words(row['ip_version'])}"
    return f"scenario {label}{over}{f' ({apart})' if apart else ''}"
