"""The opening of the report: five sentences with numbers, generated from the tables.

Each answers what a reader asks first: who is fastest, what that costs, whether the IP version
matters, which of a paper's claims hold, and whether the numbers can be trusted.
"""

from dataclasses import dataclass

from number_format import count, is_missing, number
from report_parts.findings_ip_version import ip_version_sentence
from report_parts.findings_speed import price_sentence, speed_sentence
from report_parts.report_data_tables import minus
from run_tables.tidy_columns import link_packets

MAX_REASONS = 2


@dataclass(frozen=True)
class Finding:
    """A sentence, its topic in a word or two, and the identifier of the section that shows it."""

    topic: str
    text: str
    section: str


def findings(tables, significance, other=None):
    """Return the five sentences.

    Parameters
    ----------
    tables : object
        runs, scenarios, descriptive, checks, ccas, ip_versions, ip_overall: DataFrames as in
        ``tidy`` and ``analysis``; claims: DataFrame or None.
    significance : float
        Of every test.
    other : tuple of (str, pandas.DataFrame), optional
        Name of the study of the other method, and its claims.

    Returns
    -------
    list of Finding
    """
    runs = tables.runs
    trust = Finding("Trust", trust_sentence(runs, tables.checks), "validity")
    claims = Finding("Claims", claims_sentence(tables.claims, other), "claims")
    if not runs["valid"].any():
        nothing = "No run is valid, so {}."
        return [
            Finding("Speed", nothing.format("nothing can be said about which CCA is fastest"), "speed"),
            Finding("Price", nothing.format("no figure shows a value"), "price"),
            Finding("IP version", nothing.format("IPv4 and IPv6 can't be compared"), "ip-version"),
            claims,
            trust,
        ]
    return [
        Finding("Speed", speed_sentence(tables, significance), "speed"),
        Finding("Price", price_sentence(tables), "price"),
        Finding("IP version", ip_version_sentence(tables, significance), "ip-version"),
        claims,
        trust,
    ]


def claims_sentence(claims, other=None):
    """Say how many of a paper's claims hold here, and whether the other method agrees."""
    if claims is None or claims.empty:
        return "No paper's claims were checked: the study's file names none."
    counts = claims["verdict"].value_counts()
    held, failed, open_ = (
        int(counts.get(name, 0)) for name in ("reproduced", "not reproduced", "not testable")
    )
    text = (
        f"Of the paper's {count(len(claims), 'claim')} {held:,} {'is' if held == 1 else 'are'} "
        f"reproduced here, {failed:,} {'is' if failed == 1 else 'are'} not, "
        f"{open_:,} can't be tested with these data"
    )
    if other is None:
        return f"{text}."
    name, theirs = other
    both = claims.merge(theirs, on="claim", suffixes=("", "_other"))
    decided = both[(both[["verdict", "verdict_other"]] != "not testable").all(axis=1)]
    if decided.empty:
        return f"{text}; none could be tested in the study {name} too."
    differ = int((decided["verdict"] != decided["verdict_other"]).sum())
    return (
        f"{text}; with the method of the study {name} "
        f"{differ:,} of the {len(decided):,} tested in both "
        f"{'comes' if differ == 1 else 'come'} out differently."
    )


def trust_sentence(runs, checks):
    """Say how many runs are valid, and how well loss and RTT agree with what was configured."""
    parts = [validity_words(runs, checks)]
    valid = runs[runs["valid"]]
    parts += loss_words(valid) + rtt_words(valid)
    return "; ".join(parts) + "."


def validity_words(runs, checks):
    """Say how many runs passed, and what the others failed."""
    total, valid = len(runs), int(runs["valid"].sum())
    if valid == total:
        return f"All {total:,} runs passed every check" if total > 1 else (
            "The only run passed every check"
        )  # fmt: skip
    failed = checks[checks["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    reasons = [f"{row['check']} ({row['failed']:,.0f})" for row in failed.to_dict("records")]
    shown = ", ".join(reasons[:MAX_REASONS]) + (" and others" if len(reasons) > MAX_REASONS else "")
    subject = f"No run of {total:,} is" if valid == 0 else f"{valid:,} of {count(total, 'run')} are"
    return f"{subject} valid, the rest failed checks, such as {shown}"


def loss_words(valid):
    """Say how well the links' realised loss agrees with what was configured."""
    lossy = valid[valid["loss_configured_percent"] > 0]
    lossy = lossy.assign(reached=link_packets(lossy)).dropna(subset=["reached", "link_drops"])
    rates, packets = [], 0.0
    for configured, group in lossy.groupby("loss_configured_percent"):
        if group["reached"].sum() > 0:
            realised = 100 * group["link_drops"].sum() / group["reached"].sum()
            rates.append((configured, realised))
            packets += group["reached"].sum()
    if not rates:
        return []
    if len(rates) <= 2:
        shown = " and ".join(
            f"{number(seen)} % where {configured:.10g} % was set" for configured, seen in rates
        )
    else:
        worst = max(rates, key=lambda rate: abs(rate[1] / rate[0] - 1))
        shown = f"at worst {number(worst[1])} % where {worst[0]:.10g} % was set"
    return [f"links dropped {shown} ({number(packets, 0)} packets)"]


def rtt_words(valid):
    """Say how close the lowest round-trip time seen came to the empty path's, in every scenario."""
    known = valid.dropna(subset=["rtt_min_ms", "rtt_path_ms"])
    if known.empty:
        return []
    excess = (known["rtt_min_ms"] - known["rtt_path_ms"]).groupby(known["scenario"]).min()
    low, high = excess.min(), excess.max()
    if is_missing(high):
        return []
    if max(abs(low), abs(high)) < 0.005:
        return ["lowest RTT seen: within 0.01 ms of the empty path's"]
    if low < 0:
        return [f"lowest RTT seen: {minus(f'{low:.2f} to {high:.2f}')} ms off the empty path's"]
    return [f"lowest RTT seen: at most {number(high, 2)} ms above the empty path's"]
