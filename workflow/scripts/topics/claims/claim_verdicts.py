"""Compare claims with runs: statistic, interval, verdict and reason.

A claim is reproduced if the entire interval of its statistic meets the requirement, not reproduced if the
entire interval violates the requirement, and otherwise not shown. A claim is not testable if its runs are
missing, if they measure a quantity other than the paper's, or if they could hardly refute the claim.
"""

import math

import numpy as np
import pandas as pd
from scipy import special

from inference.normality import shapiro_wilk
from inference.paired_contrasts import contrasts, to_effect
from inference.paired_tests import LEAST_PAIRS, is_constant, mean_test
from inference.pooled_tests import mann_whitney
from topics.claims.claim_groups import OF_TWO_GROUPS
from topics.claims.claim_intervals import MEDIAN, SPREAD
from topics.claims.claim_measures import meets_requirement
from topics.claims.claim_predicates import OF_ONE_GROUP, counts_of, parts_of
from topics.claims.claim_samples import Samples
from topics.claims.claim_words import requirement_words
from topics.claims.tables import CLAIMS, NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED
from wording.number_format import count, p_value, rounded
from wording.scenario_words import ip_words

#: Verdict -> sentence about the value of runs that repeat one measurement.
OF_ONE_MEASUREMENT = {
    REPRODUCED: "our value meets the requirement",
    NOT_REPRODUCED: "our value misses the requirement",
    NOT_SHOWN: "our value can't be distinguished from the bound",
}
#: Kind of a claim -> the function that computes its statistic.
KINDS = OF_ONE_GROUP | OF_TWO_GROUPS


def check_claims(runs, claims, confidence, significance, flows=None, scenarios=None, sockets=None) -> pd.DataFrame:
    """Check every claim of a file and return `CLAIMS`, in the order of the file.

    Parameters
    ----------
    claims : dict or None
        Claims from `claims_file.load_claims`; if None, no claim is checked.
    confidence, significance : float
        Confidence level of the intervals, and significance level of the paper's tests.
    runs, flows, scenarios, sockets
        As for `Samples`.
    """
    rows = []
    samples = Samples(runs, claims, flows, scenarios, sockets) if claims else None
    for claim in claims["claims"] if claims else ():
        row = dict.fromkeys(CLAIMS.names, "") | {key: claim[key] for key in CLAIMS.names if key in claim}
        row |= {"claim": claim["id"], "unit": "", "value": None, "low": None, "high": None, "requirement": ""}
        parts = parts_of(claim, samples)
        row["runs"] = int(counts_of(parts, samples).sum())
        because = samples.why_not(parts, claim.get("duration_s"))
        if because:
            row |= {"verdict": NOT_TESTABLE, "because": because}
        elif claim["kind"] == "normality":
            row |= _check_normality(claim, samples, *parts[0], significance)
        else:
            row |= _check_statistic(claim, samples, parts, confidence, significance)
        reason = _why_no_verdict(claim, samples, parts)
        if reason:
            row |= {"verdict": NOT_TESTABLE, "because": reason}
        if row["verdict"] not in (NOT_REPRODUCED, NOT_SHOWN):
            row["cause"] = ""
        row["because"] = f"{row['because'][0].upper()}{row['because'][1:].rstrip('.')}."
        rows.append(row)
    return pd.DataFrame(rows, columns=CLAIMS.names)


def _why_no_verdict(claim, samples, parts):
    """Return the reason why these runs couldn't refute a claim, whatever their values; "" if they could."""
    if claim["untestable"]:
        return claim["untestable"]
    cells = np.logical_or.reduce([mask for _, mask in parts])
    names = [name for name, there in zip(samples.scenarios, cells.any(axis=(1, 2)), strict=True) if there]
    platforms = {samples.platforms[samples.matches[name]] for name in names if name in samples.matches}
    if claim["needs_real_clock"] and platforms - {"host"}:
        return f"under a virtual clock the claim could hardly fail: {claim['needs_real_clock']}"
    return ""


def _check_statistic(claim, samples, parts, confidence, significance):
    """Return the columns of a claim with a statistic: value, interval, requirement, verdict and reason."""
    requirement = _requirement(claim)
    outcome = KINDS[claim["kind"]](claim | {"requirement": requirement}, samples, (1 - confidence) / 2)
    if not np.isfinite(outcome.value):
        words = requirement_words(requirement, outcome.unit)
        reason = "there is nothing to compare: all values are equal, or a divisor is 0"
        row = {"verdict": NOT_TESTABLE, "because": reason}
        return row | {"unit": outcome.unit, "requirement": f"{_subject(parts, outcome)}: {words}"}
    counts = counts_of(parts, samples)
    n = int(counts[counts > 0].min())
    # The half-width of a symmetric interval, one end of which may be cut at a bound of the measure.
    ours = max(outcome.high - outcome.value, outcome.value - outcome.low)
    if "replicates" in requirement:
        requirement, why, theirs = _prediction(requirement, ours, confidence)
        meets = meets_requirement(outcome.value, requirement)
        verdict, reason = REPRODUCED, "our value lies inside the prediction interval"
        if not meets:
            verdict, reason = NOT_REPRODUCED, "our value lies outside the prediction interval"
        elif not ours <= theirs:
            verdict, reason = (
                NOT_SHOWN,
                "our value lies inside the prediction interval, but is less precise than the paper's",
            )
        subject = f"{_subject(parts, outcome)}, {why}"
    else:
        verdict, reason = interval_verdict(outcome.low, outcome.value, outcome.high, requirement)
        subject = _subject(parts, outcome)
    low, high, kind = _rounded(outcome.low), _rounded(outcome.high), outcome.interval
    lost = "" if kind in (MEDIAN, SPREAD) else _apart_words(samples, parts)
    if lost:
        verdict, reason, low, high, kind = NOT_SHOWN, lost, None, None, ""
    elif kind != SPREAD and all(samples.repeats(measure)[mask].all() for measure, mask in parts):
        reason = f"each cell's runs repeat one measurement, so there is no interval: {OF_ONE_MEASUREMENT[verdict]}"
        low, high, kind = None, None, ""
    elif verdict == NOT_SHOWN and n < 5:
        reason += f", with {n} replications in the smallest cell"
    if kind and not np.isfinite(outcome.high):
        reason += ", and has no upper end" + ", because a divisor may be 0" * (
            claim["kind"] in ("ratio", "largest_difference")
        )
    paper_test = _pooled_words(claim, samples, *parts[0], significance) if claim["kind"] == "no_difference" else ""
    return {
        "unit": outcome.unit,
        "requirement": f"{subject}: {requirement_words(requirement, outcome.unit)}",
        "bounds": " ".join(f"{bound:.10g}" for bound in requirement.values()),
        "value": _rounded(outcome.value),
        "low": low,
        "high": high,
        "interval": kind,
        "verdict": verdict,
        "because": "; ".join(filter(None, [outcome.detail, reason, paper_test])),
    }


def _apart_words(samples, parts):
    """Return a sentence about the outliers that rule out an interval for the mean; "" if there are no outliers."""
    for measure, mask in parts:
        lost = samples.apart(measure, mask)
        if lost.any():
            cell = np.unravel_index(lost.argmax(), lost.shape)
            runs = f"{lost[cell]} of {samples.counts(measure)[cell]} runs of {samples.cell_words(*cell)}"
            return f"{runs} are outliers: no interval of the mean"
    return ""


def _requirement(claim):
    """Return the bounds on a claim's statistic. For a claim of no difference, the margin sets the bounds."""
    if claim["kind"] == "no_difference":
        return {"at_least": -claim["margin"], "at_most": claim["margin"]}
    return claim["requirement"]


def _subject(parts, outcome):
    if len({measure for measure, _ in parts}) == 1 and not parts[0][0].plain:
        return f"{parts[0][0].words}; {outcome.subject}"
    return outcome.subject


def interval_verdict(low, value, high, requirement) -> tuple[str, str]:
    """Return the verdict on a value with an interval, and the reason for this verdict."""
    meets = meets_requirement([low, value, high], requirement)
    if meets.all():
        return REPRODUCED, "the whole interval meets the requirement"
    if not meets.any() and not _spans(low, high, requirement):
        return NOT_REPRODUCED, "no part of the interval meets the requirement"
    return NOT_SHOWN, "only a part of the interval meets the requirement"


def _prediction(requirement, ours, confidence):
    """Return the prediction interval for a perfect replication.

    The results are the interval as bounds, a description of the interval, and the half-width of the paper's interval. The prediction
    interval follows Patil, Peng and Leek (2016, Perspectives on Psychological Science 11(4)): the half-widths of the paper's interval and
    of ours add in quadrature.
    """
    theirs = float(special.ndtri((1 + confidence) / 2)) * requirement["standard_error"]
    half, middle = math.hypot(theirs, ours), requirement["replicates"]
    words = f"prediction interval for replicating {middle:g} with a standard error of {requirement['standard_error']:g}"
    return {"at_least": float(f"{middle - half:.6g}"), "at_most": float(f"{middle + half:.6g}")}, words, theirs


#: IP versions in the order in which tests compare them. A claims file may list them in another order.
COMPARED = ("ipv4", "ipv6")


def _pooled(samples, measure, mask):
    """Return the known values of all cells in `mask`, by IP version."""
    values = np.where(mask[..., None], samples.values(measure), np.nan)
    groups = zip(samples.ip_versions, np.moveaxis(values, 2, 0), strict=True)
    return {ip_version: group[np.isfinite(group)] for ip_version, group in groups}


def _pooled_words(claim, samples, measure, mask, significance):
    """Report the results of the paper's pooled test and of the paired test."""
    pooled = _pooled(samples, measure, mask)
    four, six = (pooled[ip_version] for ip_version in COMPARED)
    u, p, why_not = mann_whitney(four, six, significance)
    if p is None:
        return f"the paper's own test, pooled: {why_not[0].lower()}{why_not[1:]}"
    words = (
        f"the paper's own test (U = {u:,.10g} for {len(four):,} and {len(six):,} runs pooled over scenarios and CCAs)"
    )
    p_words = p_value(p) if p < 0.001 else f"= {p_value(p)}"
    differs = p <= significance
    paired = _paired_words(claim, samples, measure, mask, significance, differs)
    return f"{words} finds {'a' if differs else 'no'} difference, p {p_words}; {paired}"


def _check_normality(claim, samples, measure, mask, significance):
    """Return the result of the paper's pooled test of normality for the IP version with the larger p-value.

    A test that doesn't reject normality doesn't refute the claim, because more runs may reject it.
    """
    words, largest = [], 0
    subject = "larger p-value of both IP versions in the Shapiro-Wilk test over all runs"
    row = {"requirement": f"{subject}: below {significance:g}"}
    for ip_version, group in _pooled(samples, measure, mask).items():
        if ip_version not in claim["ip_versions"]:
            continue
        if len(group) < 3 or group.min() == group.max():
            reason = f"the test needs three values that aren't all equal; {ip_words(ip_version)} has no such values"
            return row | {"verdict": NOT_TESTABLE, "because": reason}
        w, p = shapiro_wilk(group)
        words.append(f"W = {w:.3f} for {len(group):,} runs of {ip_words(ip_version)}")
        largest = max(largest, p)
    reason = "runs of different scenarios are a mixture, which says nothing about the distribution within a cell"
    verdict = REPRODUCED
    if largest >= significance:
        verdict, reason = NOT_SHOWN, "a test that doesn't reject normality doesn't show that values are normal"
    return row | {"value": _rounded(largest), "verdict": verdict, "because": f"{', '.join(words)}; {reason}"}


def _paired_words(claim, samples, measure, mask, significance, differs):
    """Report the result of the paired test, with one value per scenario.

    The runs of a pair share the scenario, the CCA and the seed, but use different IP versions. `differs` states whether the paper's pooled
    test found a difference.
    """
    places = [samples.ip_versions.index(ip_version) for ip_version in COMPARED]
    chosen = mask[:, :, places].all(axis=2)
    four, six = (samples.values(measure)[:, :, place][chosen] for place in places)
    known = np.isfinite(four) & np.isfinite(six)
    of_scenario = np.nonzero(chosen)[0][known.any(axis=1)]
    four, six = ([side[there] for side, there in zip(of, known, strict=True) if there.any()] for of in (four, six))
    words = f"over {count(len(set(of_scenario)), 'scenario')} (one value each)"
    ratio = measure.unit != "%" and all((side > 0).all() for side in (*four, *six))
    scale, of = ("ratio", "%") if ratio else ("points", "points" if measure.unit == "%" else measure.unit)
    means = np.array([contrasts(b, a, scale).mean() for a, b in zip(four, six, strict=True)])
    # The cells of one scenario use the same seeds.
    means = np.array([means[of_scenario == place].mean() for place in np.unique(of_scenario)])
    # Scenarios whose values differ only by rounding count as equal.
    means = contrasts(means, 0 * means, "points") if len(means) else means
    test = mean_test(means)
    if test is None:
        few = f"{len(means)} {'is' if len(means) == 1 else 'are'} too few; the test needs {LEAST_PAIRS}"
        same = len(means) > 1 and is_constant(means)
        why = "no scenario differs" if not means.any() else "all differ by the same amount" if same else few
        return f"the paired test {words} has nothing to test: {why}"
    p, effect = test.p(), to_effect(float(means.mean()), scale)
    p_words = p_value(p) if p < 0.001 else f"= {p_value(p)}"
    if p > significance:
        return f"the paired test {words} {'finds none' if differs else 'agrees'}, p {p_words}"
    direction, size = "higher" if effect > 0 else "lower", f", by {rounded(abs(effect), 3)} {of} on average"
    if claim["quantity"] in ("throughput_per_stream_mbps", "goodput_mbps"):
        size += _header_words(samples.runs)
    start, end = ("and", "") if differs else ("but", ", which pooling hides")
    return f"{start} the paired test {words} finds IPv6 {direction}{size}, p {p_words}{end}"


def _header_words(runs):
    """Report the reduction in throughput that IPv6's longer header alone causes, computed from the segment sizes."""
    four, six = (runs.loc[runs["ip_version"] == ip_version, "mss_bytes"].mean() for ip_version in ("ipv4", "ipv6"))
    return f" (its longer header alone accounts for {100 * (1 - six / four):.2g} %)" if six < four else ""


def _spans(low, high, requirement):
    """Return whether the requirement lies strictly inside the interval."""
    lowest = max((requirement[key] for key in ("above", "at_least") if key in requirement), default=None)
    highest = min((requirement[key] for key in ("below", "at_most") if key in requirement), default=None)
    return lowest is not None and highest is not None and low < lowest and high > highest


def _rounded(value):
    """Return a value without the digits that depend on the machine's order of summation; None if the value isn't finite."""
    return float(f"{value:.12g}") if np.isfinite(value) else None
