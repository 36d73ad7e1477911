"""The page's claims: verdicts of two methods, the interpretation of a claim, CCAs that ran under another name."""

import html as html_text
import math
import re
from types import SimpleNamespace

import jinja2
import pandas as pd
import pytest

import tidy_tables
from report_parts.material import ReportMaterial
from study_files.study_design import StudyDesign
from topics.claims.page_tables import (
    MISLABELLED_VALUES,
    chance_words,
    follows_published_method,
    mislabelled_table,
    mislabelled_words,
    owner,
    tally,
    value_text,
    version_words,
)
from topics.claims.section import claims_part
from topics.claims.tables import CLAIMS
from wording import number_format


def test_claims_of_both_methods_are_told_apart(two_methods):
    ours, theirs = (
        pd.read_csv(built.table("claims"), keep_default_na=False).set_index("claim")
        for built in (two_methods, two_methods.other)
    )
    html = two_methods.page.read_text()
    verdicts = list(zip(ours["verdict"], theirs["verdict"].reindex(ours.index), strict=True))
    pooled = ours["kind"].isin(["normality"])
    both = pd.Series([pair == ("reproduced", "reproduced") for pair in verdicts], index=ours.index)
    for name, number in (
        ("TCP&#39;s: both methods", (both & ~pooled).sum()),
        ("the test&#39;s: pooling gives it with both methods", (both & pooled).sum()),
        ("the emulation&#39;s: published method only", verdicts.count(("not reproduced", "reproduced"))),
        ("the sound method only", verdicts.count(("reproduced", "not reproduced"))),
    ):
        assert number > 0
        assert f"<b>{number}</b> {name}</dt>" in html
        assert html.count(f">{name}</td>") == number
    assert html.count(">not checked</td>") == 1
    assert "In 4 runs of the study other-method the kernel refused the sysctl: Vegas was requested, but " in html
    assert "4 of the 4 runs are identical to CUBIC&#39;s own run with the same seed in every digit" in html


def test_every_claim_shows_how_it_was_read_and_its_remark(real_shape):
    claims = pd.read_csv(real_shape.table("claims"), keep_default_na=False)
    html = real_shape.page.read_text()
    table = re.search(r'<div class="data[^"]*" id="claims-table".*?</table>', html, re.DOTALL).group(0)
    assert (claims["tolerance"] != "").all()
    assert (claims["remark"] != "").any()
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", table)
    rows = [re.findall(r"<t[hd][ >][^<]*?>?([^<>]*)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)[1:]]
    for heading, column in (("Our tolerance", "tolerance"), ("Remark", "remark"), ("Why", "because")):
        place = heads.index(heading)
        assert [html_text.unescape(row[place]) for row in rows] == list(claims[column])


def test_statements_are_quoted_or_in_our_words(root):
    row = dict.fromkeys(CLAIMS.names, "x") | {"bounds": ""}
    row |= {"statement": "BBR is fair.", "verdict": "reproduced", "value": 1.0, "low": 1.0, "high": 1.0, "runs": 4}
    version = {"version": 1, "sha256": "0123456789abcdef0", "runs": 0, "change": "fixed", "claim": ""}
    tables = SimpleNamespace(
        claims=pd.DataFrame([row]), claim_versions=pd.DataFrame([version]), scenarios=tidy_tables.grid()
    )
    paper = {"title": "A title", "authors": "An author"}
    design = StudyDesign(tidy_tables.least_study(), frozenset())
    quoted, ours = (
        claims_part(
            ReportMaterial(tables, {}, design, {}, {"paper": paper | {"statements": statements}, "confidence": 0.95})
        )
        for statements in ("quoted", "in-our-words")
    )
    assert (quoted["quoted"], ours["quoted"]) == (True, False)
    assert quoted["table"]["rows"][0][0].text == "\u201cBBR is fair.\u201d"
    assert ours["table"]["rows"][0][0].text == "BBR is fair."
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([root / "report", root / "workflow/scripts/topics"]),
        undefined=jinja2.ChainableUndefined,
    )
    environment.filters |= {"count": number_format.count, "number": number_format.number}
    page = environment.from_string('{% import "macros.html.j2" as part %}{% include "claims/section.html.j2" %}')
    words = {
        part["quoted"]: page.render(topic={"claims": part}, confidence_percent=95, files={}, figures={})
        for part in (quoted, ours)
    }
    assert (
        "The table lists statements of An author in <cite>A title</cite>, word for word. Each statement is"
        in words[True]
    )
    assert (
        "The table lists statements of An author in <cite>A title</cite>, in our words. Each statement is"
        in words[False]
    )


def test_the_page_says_how_many_claims_there_are_and_what_chance_alone_gives():
    claims = pd.DataFrame({"verdict": ["reproduced"] * 30 + ["not reproduced"] * 18 + ["not shown"] * 9})
    words = chance_words(claims, 0.95)
    assert words.startswith(
        "57 claims of the paper were checked, and 48 could be decided. An interval lies entirely above the true value in 2.5 %"
    )
    assert chance_words(claims[48:], 0.95) == "9 claims of the paper were checked, and none was decided."
    assert "chance would decide 1.2 of the 48 wrongly on average." in words


def test_the_page_says_which_claims_were_changed_after_runs():
    rows = [
        (1, 0, "fixed", ""),
        (2, 0, "changed", "a"),
        (3, 96, "changed", "a"),
        (3, 96, "changed", "b"),
        (3, 96, "added", "c"),
    ]
    versions = pd.DataFrame(rows, columns=["version", "runs", "change", "claim"]).assign(sha256="0123456789abcdef0123")
    first = "The claims were fixed before the first run (SHA-256 0123456789abcdef…)"
    assert version_words(versions[:1]) == f"{first} and haven't been changed since."
    assert version_words(versions) == (
        f"{first}. Later changes: before any run, changed a; after 96 runs, changed a and b, added c."
    )
    assert version_words(versions[2:3]).startswith("The claims were fixed when 96 runs had been made (")


REFUSED = [
    ("vegas", "veno, westwood", 29.38, 26.82), ("veno", "vegas, westwood", 29.38, 61.45),
    ("westwood", "vegas, veno", 29.38, 80.94),
]  # fmt: skip


def refused(rows, **columns):
    table = pd.DataFrame(rows, columns=["cca", "same_as", "goodput_mbps", "goodput_mbps_asked"])
    defaults = {"scenario": "r", "scenario_label": "1 refused", "ip_version": "ipv6", "observed": "cubic", "runs": 4,
                "identical_runs": 0}  # fmt: skip
    return table.assign(**(defaults | columns))


def test_runs_that_are_the_same_to_the_last_digit_are_shown_as_the_proof():
    both = pd.concat([refused(REFUSED), refused(REFUSED, scenario="s", goodput_mbps_asked=29.38)])
    assert mislabelled_words(both, "exbench") == (
        "In 24 runs of the study exbench the kernel refused the sysctl: Vegas, Veno and Westwood were requested, but "
        "iperf3's own report shows that CUBIC ran. A script that doesn't read the setting back would have published Vegas, "
        "Veno and Westwood as 3 CCAs that have the same goodput, RTT and retransmissions to the last digit in all 4 "
        "replications of 2 combinations of scenario and IP version, because all of them are CUBIC. In scenario “1 refused” "
        "over IPv6, for example, 29.4 Mbit/s would be published under all 3 names; in the same conditions true Vegas has "
        "26.8, true Veno has 61.5 and true Westwood has 80.9 Mbit/s."
    )


def test_mislabelled_runs_without_twins_or_reference_claim_neither():
    alone = refused([("vegas", "", 29.38, None)])
    assert mislabelled_words(alone, None) == (
        "In 4 runs the kernel refused the sysctl: Vegas was requested, but iperf3's own report shows that CUBIC ran."
    )
    text = mislabelled_words(refused([("vegas", "", 29.38, 58.76)], runs=1, identical_runs=1), None)
    assert "29.4 Mbit/s would be published under the name; in the same conditions true Vegas has 58.8 Mbit/s." in text
    assert "1 of the 1 run is identical to CUBIC's own run" in text
    pair = [("vegas", "veno", 1.0, 1.0), ("veno", "vegas", 1.0, 1.0)]
    text = mislabelled_words(pd.concat([refused(REFUSED), refused(pair, scenario="s")]), None)
    assert "of 2 combinations of scenario and IP version (in some, only a few of these CCAs), because all" in text


def test_ccas_that_would_have_been_published_alike_stand_in_the_table():
    columns = {f"{name}{end}": 1.0 for name, *_ in MISLABELLED_VALUES for end in ("", "_asked", "_observed")}
    table = mislabelled_table(refused(REFUSED, **columns))
    place = [column.heading for column in table["columns"]].index("Same means as")
    assert [row[place].text for row in table["rows"]] == ["Veno and Westwood", "Vegas and Westwood", "Vegas and Veno"]
    alone = mislabelled_table(refused([("vegas", "", 1.0, 1.0)], **columns))
    assert alone["rows"][0][place].text == "–"


def test_the_published_method_itself_swaps_the_roles():
    scenarios = tidy_tables.grid()
    assert not follows_published_method(scenarios)
    assert follows_published_method(scenarios.assign(netem="both-ends"))
    claims = pd.DataFrame({"claim": ["a", "b"], "verdict": ["reproduced", "not testable"], "kind": "ratio"})
    theirs = claims.assign(verdict="not reproduced")
    counts = {name: number for name, _, number in tally(claims, ("x", theirs), swapped=True)[1]}
    assert counts["the emulation's: published method only"] == 1
    assert counts["open"] == 1


def test_what_pooling_shows_with_both_methods_is_the_tests():
    kind = "normality"
    assert owner("reproduced", "reproduced", kind)[0] == "the test's: pooling gives it with both methods"
    assert owner("reproduced", "reproduced", "ratio")[0] == "TCP's: both methods"
    assert owner("not reproduced", "reproduced", kind)[0] == "the emulation's: published method only"
    assert owner("not testable", "reproduced", kind)[0] == "open"


@pytest.mark.parametrize(
    ("bounds", "value", "low", "high", "text"),
    [
        ("1 1.0207", 1.002341, 1.00131, 1.00316, "1.0023 times (1.0013 to 1.0032)"),
        ("1.0174 1.0374", 1.013992, 1.013989, 1.014, "1.0140 times (1.0140 to 1.0140)"),
        # What isn't equal to a bound doesn't look so, and what is equal does.
        ("1", 1.000036, 1.0, 1.000074, "1.00004 times (1.00000 to 1.00007)"),
        ("1", 0.99994, 0.99993, 0.999944, "0.9999 times (0.9999 to 0.9999)"),
        ("342 378", 375.7777, 375.7694, 375.8773, "376 times (376 to 376)"),
        ("", 1.013992, 1.013989, 1.014, "1.01 times (1.01 to 1.01)"),
        ("", 3.2, 2.9, math.nan, "3.20 times (2.90 or more)"),
        ("", 2e-26, math.nan, math.nan, "2e-26 times"),
        ("", math.nan, math.nan, math.nan, "–"),
    ],
)
def test_values_have_the_digits_by_which_they_can_be_checked(bounds, value, low, high, text):
    assert value_text({"value": value, "low": low, "high": high, "unit": "times", "bounds": bounds}) == text


@pytest.mark.parametrize(("low", "high", "text"), [(-4.0, 4.0, "0.00 % (−4.00 to 4.00)"), (None, None, "0.0001 %")])
def test_a_tiny_value_keeps_its_interval_and_its_unit(low, high, text):
    assert value_text({"value": 0.0001, "low": low, "high": high, "unit": "%", "bounds": "-5 5"}) == text
