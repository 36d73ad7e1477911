"""The text for a cover letter and the page: they fit, and state what was found and what was not tested."""

import pandas as pd
import pytest

from kernel_tests.named_kernel import NamedKernel
from kernel_tests.results import entry_of
from selftests.verdicts import FAILED, NOT_FIT, PASSED
from sending import studies
from sending.letter import MOST_LINES, WIDTH, Found, cover_letter, exam_row_words
from sending.page import page
from sending.question import Question
from sending.tested import BothResults, judged_again
from sending.touched import touched_by
from session.change_verdicts import BETTER, LIKE, NOT_ENOUGH, SAME, TOO_VARIABLE, WORSE
from session.result_comparison import COLUMNS
from study_files import study as study_files
from topics.exam.tables import LIKE as EXAM_LIKE
from topics.exam.tables import SCORECARD
from topics.exam.tables import WORSE as EXAM_WORSE

COMMAND = "make series SERIES=my.mbox BASE=7.2"


def found(**of_call):
    touched = touched_by(["net/ipv4/tcp_cubic.c"])
    base = NamedKernel("7.2.13-1", "Linux 7.2.13-1, the image's")
    question = Question(base, {"my.mbox": b"patch"}, touched, ("my.mbox",))
    version = {"commit": "a" * 40, "is_changed": False, "image": "b" * 64}
    return Found(question, version, COMMAND, **of_call)


def results_of(**results):
    return [
        {"script": f"{name}.pkt", "ip_version": version, "result": result, "reason": "", "seconds": 1.0}
        for name, result in results.items()
        for version in ("ipv4", "ipv6")
    ]


def changes(*verdicts):
    row = {
        "criterion": "", "scenario": "long-1", "cca": "cubic", "ip_version": "ipv4", "measure": "Goodput", "unit": "Mbit/s", "margin": 5.0,
        "first": 18.7, "second": 16.9, "effect": -9.6, "low": -9.9, "high": -9.2, "effect_unit": "%", "n": 8, "pairs_worse": 8, "pairs_better": 0,
        "p_corrected": 0.01, "note": "",
    }  # fmt: skip
    return pd.DataFrame([row | {"change": verdict} for verdict in verdicts]).reindex(columns=list(COLUMNS))


def card(*verdicts):
    row = dict.fromkeys(SCORECARD.names) | {
        "rfc_section": "5.1.3", "criterion": "Loss", "scenario": "5.1.3-0.1bdp", "scenario_label": "0.1 BDP", "measure": "Packet loss", "unit": "%",
        "n": 20.0, "runs_worse": 18.0, "runs_better": 0.0, "worse_by": 2.5, "worse_by_low": 1.9, "worse_by_high": 3.1, "margin": 1.0, "reason": "",
    }  # fmt: skip
    return pd.DataFrame([row | {"verdict": verdict} for verdict in verdicts])


def study():
    return study_files.resolve(study_files.load(studies.REGRESSION), "regression")


def whole(worse=2):
    tested = BothResults(
        results_of(kept=PASSED, broken=PASSED, mended=FAILED, gone=PASSED),
        results_of(kept=PASSED, broken=FAILED, mended=PASSED, new=PASSED),
    )
    table = changes(*[WORSE] * worse, *[BETTER] * worse, LIKE, SAME)
    return found(tested=tested, study=study(), changes=table, exams={"cubic": card(*[EXAM_WORSE] * worse, EXAM_LIKE)})


def test_a_letter_has_what_was_run_what_changed_and_how_to_repeat_it():
    text = cover_letter(whole())
    assert "newly failed: broken.pkt (ipv4, ipv6)" in text and "newly passed: mended.pkt (ipv4, ipv6)" in text
    assert "added by the series: new.pkt (ipv4, ipv6)" in text and "removed by the series: gone.pkt" in text
    words = " ".join(text.split())
    assert (
        "worse: cubic, long-1 ipv4, goodput 18.70 -> 16.90 Mbit/s, -9.60 (-9.90 to -9.20) %; 8 of 8 pairs worse, 0 better"
        in words
    )
    assert "worse: 5.1.3 0.1 BDP: Packet loss worse by +2.50 (+1.90 to +3.10) %; 18 of 20 runs worse, 0 better" in words
    assert f"  {COMMAND}\n" in text and text.isascii()
    assert "IPv4 and IPv6; 8 pairs of runs each" in words
    one = whole()
    one.study = one.study | {"ip_versions": ["ipv6"]}
    assert "IPv4" not in cover_letter(one)


def test_a_row_that_is_better_is_better_by_a_positive_amount():
    row = card("better").to_dict("records")[0] | {"worse_by": -2.5, "worse_by_low": -3.1, "worse_by_high": -1.9}
    assert "Packet loss better by +2.50 (+1.90 to +3.10) %" in exam_row_words(row)


def test_rows_that_are_neither_worse_nor_better_are_not_hidden():
    """An effect within the margin and an open row have their intervals in the letter, and the outcome counts the open rows."""
    table = changes(LIKE, LIKE, LIKE, TOO_VARIABLE, NOT_ENOUGH, SAME)
    table["scenario"] = ["long-1", "long-1", "shallow", "mixed", "loss", "short"]
    table["ip_version"] = ["ipv4", "ipv6", "ipv4", "ipv4", "ipv4", "ipv4"]
    table["effect"] = [2.0, 3.0, 0.5, -21.0, 1.0, 0.0]
    table["low"], table["high"] = [1.0, 2.5, -1.0, -60.0, -4.0, 0.0], [3.0, 3.5, 1.0, 30.0, 6.0, 0.0]
    table["pairs_worse"], table["pairs_better"] = [0, 0, 0, 6, 0, 0], [0, 0, 0, 1, 2, 0]
    one = found(study=study(), changes=table)
    words = " ".join(cover_letter(one).split())
    assert "like: cubic, long-1 ipv6, goodput 18.70 -> 16.90 Mbit/s, +3.00 (+2.50 to +3.50) %" in words
    assert "long-1 ipv4" not in words and "shallow ipv4" not in words
    assert "too variable: cubic, mixed ipv4, goodput 18.70 -> 16.90 Mbit/s, -21.0 (-60.0 to +30.0) %; 6 of 8 pairs worse, 1 better" in words  # fmt: skip
    assert "loss ipv4" not in words
    assert "These runs leave rows open: 2 of 6 rows in the regression study." in words
    assert "not enough: more pairs are needed" in words


@pytest.mark.parametrize("worse", [0, 2, 50])
def test_a_letter_fits(worse):
    lines = cover_letter(whole(worse)).splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert f"  {COMMAND}" in lines


def test_many_ccas_fit_too():
    one = whole(50)
    one.exams = {name: card(*[EXAM_WORSE] * 20) for name in ("cubic", "reno", "bbr", "vegas", "veno")}
    lines = cover_letter(one).splitlines()
    assert len(lines) <= MOST_LINES and f"  {COMMAND}" in lines
    assert any("more lines are on the page" in line for line in lines)


def test_what_was_not_run_is_said():
    one = found(study=study(), changes=changes(SAME))
    assert "not run, because packetdrill's source was not" in " ".join(cover_letter(one).split())
    assert any("PACKETDRILL was not given" in sentence for sentence in one.verdict())


def test_a_kernel_that_fails_is_the_verdict():
    why = "The first run on the patched kernel (cubic) failed, and the same run on the base did not: panic"
    one = found(stopped=why, is_broken=True)
    assert one.verdict() == [why] == one.problems()
    assert "Regression study" not in cover_letter(one) and "selftests" not in cover_letter(one)


def test_that_no_study_was_run_is_said_beside_a_new_failure():
    same = "The compiled guest kernel is the same. So no study was run."
    one = found(stopped=same, tested=BothResults(results_of(a=PASSED), results_of(a=FAILED)))
    assert one.verdict() == ["2 tests of the kernel's own newly fail.", same]
    words, html = " ".join(cover_letter(one).split()), page(one)
    assert "newly fail. The compiled guest kernel is the same." in words
    assert "CCAs: no CCA, because no study was run." in words and "no CCA, because no study was run." in html
    assert one.ccas == () and found().ccas == ("cubic",)


def test_runs_that_are_all_the_same_may_not_execute_the_changed_code():
    same = "No row of the regression study differs at all, so these runs may not execute the changed code."
    assert same in found(study=study(), changes=changes(SAME, SAME)).outcome()
    assert same not in found(study=study(), changes=changes(SAME, LIKE)).outcome()
    assert same not in found(study=study(), changes=changes()).outcome()


def test_kernels_that_are_the_same_are_no_problem():
    one = found(
        stopped="The patched guest kernel is the same.", tested=BothResults(results_of(a=PASSED), results_of(a=PASSED))
    )
    assert one.problems() == [] and one.verdict() == ["The patched guest kernel is the same."]


def test_tests_are_matched_by_script_and_ip_version():
    before, after = results_of(a=PASSED, b=FAILED, c=PASSED), results_of(a=FAILED, b=FAILED, c=NOT_FIT, d=FAILED)
    tested = BothResults(before, after)
    assert [test["script"] for test in tested.newly_failed] == ["a.pkt"] * 2
    assert [test["script"] for test in tested.not_fit_any_more] == ["c.pkt"] * 2
    assert [test["script"] for test in tested.failed_of_added] == ["d.pkt"] * 2
    assert not tested.newly_passed and not tested.removed


def test_the_page_stands_alone_and_has_the_letter():
    one = whole()
    text = page(one)
    assert (
        "broken.pkt" in text
        and "0.1 BDP" in text
        and "In the regression study, 2 rows are worse than on the base." in text
    )
    assert "To repeat it, with the same packets" in text and "http" not in text.partition("<main>")[2]


def test_a_script_that_passed_on_the_base_fails_even_if_an_option_is_off():
    def entry(status, script="<md5 ok>"):
        outcome = {"status": status, "seconds": 0.1, "output": "a.pkt:3: error\n", "warnings": []}
        return entry_of(["a.pkt", "--ip_version=ipv4"], outcome, script, set())

    assert (entry(0)["result"], entry(1)["result"]) == (PASSED, NOT_FIT)
    both = BothResults([entry(0)], [judged_again(entry(1), [entry(0)])])
    assert [test["reason"] for test in both.newly_failed] == ["the same script passed on the base; a.pkt:3: error"]
    for base in ([entry(0, "no option")], [entry(1)], []):
        assert judged_again(entry(1), base) == entry(1)
    assert judged_again(entry(0), [entry(0)]) == entry(0)
