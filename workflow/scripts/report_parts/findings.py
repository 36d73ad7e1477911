"""The opening of the report: a few sentences with numbers, generated from the tables.

Each answers what a reader asks first: who is fastest, what that costs, whether the IP version
matters, which of a paper's claims hold, and whether the numbers can be trusted.
"""

import math
from dataclasses import dataclass

from number_format import count, is_missing, number
from report_parts.findings_ip_version import ip_version_sentence
from report_parts.findings_speed import price_sentence, speed_sentence
from report_parts.report_claims import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    TEST_KINDS,
    follows_published_method,
)  # fmt: skip
from report_parts.report_data_tables import minus
from report_parts.sentence_words import listed
from run_tables.tidy_columns import link_packets
from scenario_words import path_rtts_ms

MAX_REASONS = 2
CHECK_WORDS = {
    "cca": "the CCA that ran",
    "drops_elsewhere": "drops elsewhere",
    "exit_status": "the exit status",
    "goodput_ceiling": "the highest possible goodput",
    "host_settings": "the hosts' settings",
    "idle_rtt": "the idle path's RTT",
    "loss_forward": "the forward path's loss",
    "loss_reverse": "the reverse path's loss",
    "overlap": "the flows' overlap",
    "qdiscs": "the queues' settings",
    "rtt_floor": "the lowest possible RTT",
}
# A longer statement doesn't fit into the sentence on claims.
EXAMPLE_WORDS = 14


@dataclass(frozen=True)
class Finding:
    """A sentence, its topic in a word or two, and the identifier of the section that shows it."""

    topic: str
    text: str
    section: str


def findings(tables, design, significance, other=None):
    """Return the sentences that this study has something to say in.

    Parameters
    ----------
    tables : object
        runs, scenarios, descriptive, checks, ccas, ip_versions, ip_overall, claims: DataFrames as in
        ``tidy`` and ``analysis``, or None for what the study's design doesn't have.
    design : StudyDesign
    significance : float
        Of every test.
    other : tuple of (str, pandas.DataFrame), optional
        Name of the study of the other method, and its claims.

    Returns
    -------
    list of Finding
    """
    runs, found = tables.runs, []
    valid, nothing = runs["valid"].any(), "No run is valid, so {}."
    one = not design.ip_versions_compared
    if not design.mixes and not design.by_size:  # a mix has no speed of its own: its CCAs share one link
        speed = nothing.format("nothing can be said about which CCA is fastest")
        price = nothing.format("what the fastest CCA pays can't be said either")
        found.append(Finding("Speed", speed_sentence(tables, significance, one) if valid else speed, "speed"))
        found.append(Finding("Price", price_sentence(tables, one) if valid else price, "price"))
    if design.ip_versions_compared and not design.by_size:
        words = nothing.format("IPv4 and IPv6 can't be compared")
        found.append(Finding("IP version", ip_version_sentence(tables, significance) if valid else words, "ip-version"))
    if tables.claims is not None and not tables.claims.empty:
        swapped = follows_published_method(tables.scenarios)
        found.append(Finding("Claims", claims_sentence(tables.claims, other, swapped), "claims"))
    return [*found, Finding("Trust", trust_sentence(runs, tables.checks, tables.scenarios), "validity")]


def claims_sentence(claims, other=None, swapped=False):
    """Say how many of a paper's claims hold here, and how many are the published method's alone, with one of them.

    Parameters
    ----------
    claims, other
        As for `findings`.
    swapped : bool
        Whether this study is the one that follows the published method.
    """
    if claims is None or claims.empty:
        return "No paper's claims were checked, for the study's file names none."
    counts = claims["verdict"].value_counts()
    held, failed, open_ = (
        int(counts.get(name, 0)) for name in (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE)
    )
    text = (
        f"Of the paper's {count(len(claims), 'claim')} {held:,} {'is' if held == 1 else 'are'} "
        f"reproduced here, {failed:,} {'is' if failed == 1 else 'are'} not, and "
        f"{open_:,} can't be tested"
    )
    if other is None:
        return f"{text} with these data."
    name, theirs = other
    both = claims.merge(theirs, on="claim", suffixes=("", "_other"))
    decided = both[(both[["verdict", "verdict_other"]] != NOT_TESTABLE).all(axis=1)]
    if decided.empty:
        return f"{text}; none could be tested in the study {name} too."
    sound, published = ("verdict_other", "verdict") if swapped else ("verdict", "verdict_other")
    emulated = decided[(decided[sound] == NOT_REPRODUCED) & (decided[published] == REPRODUCED)]
    method = "the published method, as here," if swapped else f"the published method (study {name})"
    if emulated.empty:
        return f"{text}; none of the {len(decided):,} tested in both studies holds only with {method.rstrip(',')}."
    holds, are = ("holds", "is") if len(emulated) == 1 else ("hold", "are")
    text = f"{text}; {len(emulated):,} {holds} only with {method} and so {are} the emulation's, not TCP's"
    example = telling_example(emulated)
    return f"{text}, such as \u201c{example.rstrip('.')}\u201d." if example else f"{text}."


def telling_example(claims):
    """Return the statement of the claim whose two values are the most times apart; of several, the one with most runs.

    Those that are a test's p, and those too long for a sentence, are passed over.

    Parameters
    ----------
    claims : pandas.DataFrame
        With statement, value, value_other, runs, and kind if it is known.
    """
    best = None
    for row in claims.to_dict("records"):
        value, other = row["value"], row["value_other"]
        if row.get("kind") in TEST_KINDS or len(row["statement"].split()) > EXAMPLE_WORDS:
            continue
        if is_missing(value) or is_missing(other) or min(value, other) <= 0:
            continue
        # Rounded, so that claims on the same value are a tie.
        rank = (round(abs(math.log(value / other)), 9), row["runs"])
        if best is None or rank > best[0]:
            best = rank, row["statement"]
    return best and best[1]


def trust_sentence(runs, checks, scenarios):
    """Say how many runs are valid, and how well loss and RTT agree with what was configured."""
    valid = runs[runs["valid"]]
    # Of hosts whose paths differ, the lowest RTT is that of the nearest pair.
    shortest = {row["scenario"]: path_rtts_ms(row)[0] for row in scenarios.to_dict("records")}
    valid = valid.assign(rtt_path_ms=valid["scenario"].map(shortest))
    return "; ".join([validity_words(runs, checks), *loss_words(valid), *rtt_words(valid)]) + "."


def validity_words(runs, checks):
    """Say how many runs passed, and what the others failed."""
    total, valid = len(runs), int(runs["valid"].sum())
    if valid == total:
        return f"All {total:,} runs passed every check" if total > 1 else (
            "The only run passed every check"
        )  # fmt: skip
    failed = checks[checks["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    names = [CHECK_WORDS.get(name, name.replace("_", " ")) for name in failed["check"]]
    reasons = [f"{name} ({number_of:,.0f})" for name, number_of in zip(names, failed["failed"], strict=True)]
    shown = listed([*reasons[:MAX_REASONS], *(["others"] if len(reasons) > MAX_REASONS else [])]) if reasons else ""
    if valid == 0:
        subject = f"No run of {total:,} is valid" if total > 1 else "The only run is not valid"
        return f"{subject}; failed were the checks of {shown}" if shown else subject
    rest = total - valid
    subject = f"{valid:,} of {count(total, 'run')} {'is' if valid == 1 else 'are'} valid"
    if len(reasons) == 1:
        return f"{subject}, and the other {rest:,} failed the check of {names[0]}"
    return f"{subject}, and the other {rest:,} failed the checks of {shown}" if shown else subject


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
        shown = " and ".join(f"{number(seen)} % where {configured:.10g} % was set" for configured, seen in rates)
    else:
        worst = max(rates, key=lambda rate: abs(rate[1] / rate[0] - 1))
        shown = f"at worst {number(worst[1])} % where {worst[0]:.10g} % was set"
    return [f"the links dropped {shown}, of {number(packets, 0)} packets"]


def rtt_words(valid):
    """Say how close the lowest round-trip time seen came to the empty path's, in every scenario."""
    known = valid.dropna(subset=["rtt_min_ms", "rtt_path_ms"])
    if known.empty:
        return []
    excess = (known["rtt_min_ms"] - known["rtt_path_ms"]).groupby(known["scenario"]).min()
    low, high = excess.min(), excess.max()
    if is_missing(high):
        return []
    lowest = "the lowest RTT in each scenario is" if len(excess) > 1 else "the lowest RTT is"
    if max(abs(low), abs(high)) < 0.005:
        return [f"{lowest} within 0.01 ms of the empty path's"]
    if low < 0:
        return [f"{lowest} {minus(f'{low:.2f} to {high:.2f}')} ms off the empty path's"]
    return [f"{lowest} at most {number(high, 2)} ms above the empty path's"]
