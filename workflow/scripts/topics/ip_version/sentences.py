"""A sentence about the effect of the IP version, based on the mean over scenarios and on the pooled test."""

from inference.equivalence import INSIDE, OUTSIDE
from report_parts.data_tables import signed
from topics.ip_version.tables import BY_SCENARIO, EQUAL, MSS_RATIO, POOLED
from wording.number_format import count, is_missing, plain
from wording.scenario_words import ip_words
from wording.sentence_words import p_words

METRIC = "goodput_mbps"


def ip_version_sentence(tables, significance) -> str:
    """Report the difference in goodput between IPv6 and IPv4, the effect of IPv6's longer header, and the result of the pooled test.

    `tables` contains the tables runs, ip_versions and ip_overall.
    """
    present = list(dict.fromkeys(tables.runs["ip_version"]))
    if len(present) < 2:
        return f"The study has one IP version, {ip_words(present[0])}, so there is nothing to compare."
    cells = tables.ip_versions[tables.ip_versions["metric"] == METRIC]
    if cells["effect"].isna().all():
        return "No cell has goodputs over both IP versions, so goodput can't be compared."
    of_all = (tables.ip_overall["metric"] == METRIC) & (tables.ip_overall["cca"].fillna("") == "")
    overall = tables.ip_overall[of_all & tables.ip_overall["p"].notna()]
    known = {(row["method"], row["null"]): row for row in overall.to_dict("records")}
    equal = known.get((BY_SCENARIO, EQUAL))
    if equal is None:
        return _cell_words(cells, significance)
    text = _overall_words(equal, significance)
    ratio, header = known.get((BY_SCENARIO, MSS_RATIO)), _header(cells, tables.runs)
    if ratio is not None and header is not None:
        text += f"; {_header_words(ratio, header, equal['p_holm'] < significance)}"
    return f"{text}{_pooled_words(known.get((POOLED, EQUAL)), equal, significance)}."


def _cell_words(cells, significance) -> str:
    """Report the number of cells in which a test shows a difference; used if no test over the entire study is possible."""
    tested = cells[cells["p_holm"].notna()]
    median = f"the median difference from IPv4's is {signed(cells['effect'].median(), 2)} %"
    if tested.empty:
        return f"None of {count(len(cells), 'cell')} allows a test of IPv6's goodput; {median}."
    differ = int((tested["p_holm"] < significance).sum())
    return (
        f"IPv6's goodput differs significantly from IPv4's in {differ:,} of {count(len(tested), 'cell')} tested "
        f"(Holm-corrected); {median}."
    )


def _header(cells, runs) -> dict | None:
    """Return the cost of IPv6's longer header; None if no effect is expected in any cell.

    The keys are header ("20 more bytes of header"), costs ("cost"), ratio ("segment-size ratio 1428/1448") and percent (float).
    """
    expected = cells["expected_effect"].dropna()
    if expected.empty:
        return None
    sizes = [set(runs.loc[runs["ip_version"] == ip, "mss_bytes"].dropna()) for ip in ("ipv6", "ipv4")]
    words = {
        "header": "the longer header", "costs": "costs", "ratio": "ratio of segment sizes",
        "percent": expected.median(),
    }  # fmt: skip
    if all(len(size) == 1 for size in sizes):
        ipv6, ipv4 = (size.pop() for size in sizes)
        words["ratio"] = f"segment-size ratio {ipv6:g}/{ipv4:g}"
        if ipv4 > ipv6:
            words |= {"header": f"{plain(ipv4 - ipv6)} more bytes of header", "costs": "cost"}
    return words


def _overall_words(equal, significance):
    """Report the mean difference over scenarios; `equal` is the row of ``ip_overall`` with equal goodput as the null hypothesis."""
    interval = f"{signed(equal['ci_low'], 2)} to {signed(equal['ci_high'], 2)} %"
    numbers = f"(mean {signed(equal['effect'], 2)} %, {interval}, {p_words(equal['p_holm'])})"
    goodput = f"Over {count(int(equal['scenarios']), 'scenario')} IPv6's goodput"
    if equal["p_holm"] < significance:
        higher = "higher" if equal["direction"] == "IPv6 higher" else "lower"
        return f"{goodput} is {higher} than IPv4's {numbers}"
    if equal["within"] == INSIDE:
        return f"{goodput} is within ±{plain(equal['margin'])} % of IPv4's and not shown to differ {numbers}"
    return f"{goodput} isn't shown to differ from IPv4's {numbers}"


def _header_words(ratio, cost, differs):
    """Report whether the header's cost explains the difference that was found.

    `ratio` is the row of ``ip_overall`` whose null hypothesis is the ratio of the segment sizes, `cost` is the result of `_header`,
    and `differs` states whether there is a difference to explain.
    """
    against = f"the {cost['ratio']} ({signed(cost['percent'], 2)} %)"
    off = f"{signed(ratio['ci_low'], 2)} to {signed(ratio['ci_high'], 2)} % off"
    where = {INSIDE: "within", OUTSIDE: "beyond"}.get(ratio["within"], "not within")
    margin, header = f"{where} ±{plain(ratio['margin'])} %", f"{cost['header']} {cost['costs']}"
    if not differs:
        return f"against {against} it is {off}, {margin}"
    if ratio["within"] == INSIDE:
        return f"that is what {header}: {off} {against}, {margin}"
    if ratio["within"] == OUTSIDE:
        more = "lower" if ratio["direction"] == "IPv4 higher" else "higher"
        return f"that is {more} than what {header}: {off} {against}, {margin}"
    return f"it is open whether {header} that much: {off} {against}, {margin}"


def _pooled_words(pooled, equal, significance) -> str:
    """Report whether the pooled test, which is the published method, agrees with the test by scenario, whose row is ``equal``."""
    differs = equal["p_holm"] < significance
    if pooled is None or is_missing(pooled["p"]):
        return ""
    p = p_words(pooled["p"])
    if pooled["p"] < significance:
        found = "a difference"
        if differs:
            same = pooled["direction"] == equal["direction"]
            found += ", too" if same else " in the opposite direction"
        return f"; the published, pooled test finds {found} ({p})"
    return f"; the published, pooled test {'finds none' if differs else 'finds none either'} ({p})"
