"""Whether the IP version matters: one sentence from the tests over all cells, in pairs and pooled."""

from report_parts.data_tables import signed
from topics.ip_version.tables import ALIGNED, EQUAL, MSS_RATIO, POOLED, VAN_ELTEREN
from wording.number_format import count, is_missing, plain
from wording.scenario_words import ip_words
from wording.sentence_words import p_words

# Tests over all cells that fit the design, the better one first.
DESIGNED = {ALIGNED: "paired", VAN_ELTEREN: "stratified"}
METRIC = "goodput_mbps"


def ip_version_sentence(tables, significance) -> str:
    """Say whether IPv6's goodput differs from IPv4's, whether its longer header explains that, and what pooling sees.

    `tables` has the tables runs, ip_versions and ip_overall.
    """
    present = list(dict.fromkeys(tables.runs["ip_version"]))
    if len(present) < 2:
        return f"The study has one IP version, {ip_words(present[0])}, so there is nothing to compare."
    cells = tables.ip_versions[tables.ip_versions["metric"] == METRIC]
    if cells["effect"].isna().all():
        return "No cell has a goodput with both IP versions, so that can't be compared."
    overall = tables.ip_overall[(tables.ip_overall["metric"] == METRIC) & tables.ip_overall["p"].notna()]
    known = {(row["method"], row["null"]): row for row in overall.to_dict("records")}
    method = next((name for name in DESIGNED if (name, EQUAL) in known), None)
    if method is None:
        return _cell_words(cells, significance)
    equal, ratio = known[method, EQUAL], known.get((method, MSS_RATIO))
    text = _overall_words(
        DESIGNED[method], equal, ratio, _header(cells, tables.runs), signed(cells["effect"].median(), 2), significance
    )
    return f"{text}{_pooled_words(known.get((POOLED, EQUAL)), equal['p'] < significance, significance)}."


def _cell_words(cells, significance) -> str:
    """Say how many cells differ by test: all there is to say where no test over the whole could be made."""
    tested = cells[cells["p_holm"].notna()]
    median = f"the median difference from IPv4's is {signed(cells['effect'].median(), 2)} %"
    if tested.empty:
        return f"IPv6's goodput could be tested in none of {count(len(cells), 'cell')}; {median}."
    differ = int((tested["p_holm"] < significance).sum())
    return (
        f"IPv6's goodput differs significantly from IPv4's in {differ:,} of {count(len(tested), 'cell')} tested "
        f"(Holm-corrected); {median}."
    )


def _header(cells, runs) -> dict | None:
    """Return what IPv6's longer header costs, None if no cell has an expected effect.

    header ("20 more bytes of header"), costs ("cost"), ratio ("segment-size ratio 1428/1448"), percent (float).
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


def _overall_words(name, equal, ratio, cost, median, significance):
    """Say what the test over all cells finds against equality, and against what the header costs.

    `name` is the test's in a word; `equal` and `ratio` are its rows of ``ip_overall``, the second or None; `cost` is
    `_header`'s; `median` that of the cells' differences, in percent.
    """
    differs = equal["p"] < significance
    if differs:
        higher = equal["direction"] == "IPv6 higher"
        text = (
            f"Over all cells IPv6's goodput is {'higher' if higher else 'lower'} than IPv4's "
            f"(median {median} %, {name} test {p_words(equal['p'])})"
        )
    else:
        text = (
            f"Over all cells the {name} test finds no difference between IPv6's goodput and IPv4's "
            f"({p_words(equal['p'])}, median {median} %)"
        )
    if ratio is None or cost is None or is_missing(ratio["p"]):
        return text
    # Its bracket is left open for p.
    against = f"{cost['ratio']} ({signed(cost['percent'], 2)} %"
    p = p_words(ratio["p"])
    if differs and ratio["p"] >= significance:
        return (
            f"{text}, in agreement with what {cost['header']} {cost['costs']}: against the {against}) "
            f"the test finds no difference ({p})"
        )
    if differs:
        more = "more" if ratio["direction"] == "IPv4 higher" else "less"
        if higher:
            return f"{text}, which {cost['header']} can't explain: it differs from the {against}, {p}) too"
        return f"{text}, but by {more} than {cost['header']} would cost: it differs from the {against}, {p}) too"
    if ratio["p"] < significance:
        return f"{text}, though {cost['header']} should cost some: it differs from the {against}, {p})"
    return f"{text}, nor one from what {cost['header']} would cost, the {against}, {p})"


def _pooled_words(pooled, differs, significance) -> str:
    """Say whether the pooled test, as published, sees what the other does."""
    if pooled is None or is_missing(pooled["p"]):
        return ""
    p = p_words(pooled["p"])
    if pooled["p"] < significance:
        return f"; the published, pooled test sees {'it too' if differs else 'one'} ({p})"
    return f"; the published, pooled test {'misses it' if differs else 'sees none either'} ({p})"
