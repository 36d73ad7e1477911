"""Tables as readers use them: sorted, filtered, by mouse and keyboard, long ones, without scripts, on paper."""

import re

import pandas as pd
import pytest


def column(page, table, number):
    return page.locator(f"#{table} tbody tr > :nth-child({number})").all_inner_texts()


def numbers(texts):
    plain = [text.replace("−", "").replace("< ", "").replace(",", "") for text in texts]
    return [float(re.match(r"[\d.]+", text)[0]) for text in plain]


def status(page, table):
    return page.inner_text(f"#{table} .rows")


@pytest.mark.slow
def test_click_on_a_head_sorts_by_value_and_back(real_shape, visit):
    page = visit(real_shape.page)
    head = "#ip-versions th:has-text('IPv4')"
    before = column(page, "ip-versions", 7)
    page.click(f"{head} >> button")
    up = numbers(column(page, "ip-versions", 7))
    assert up == sorted(up) and up != numbers(before)
    assert page.get_attribute(head, "aria-sort") == "ascending"
    page.click(f"{head} >> button")
    down = numbers(column(page, "ip-versions", 7))
    assert down == sorted(down, reverse=True)
    assert page.get_attribute(head, "aria-sort") == "descending"
    page.click(f"{head} >> button")
    assert column(page, "ip-versions", 7) == before
    assert page.get_attribute(head, "aria-sort") is None
    assert page.locator("#ip-versions [aria-sort]").count() == 0
    assert page.problems == []


@pytest.mark.slow
def test_sorting_is_stable_in_study_order_and_missing_comes_last(real_shape, visit):
    page = visit(real_shape.page)
    page.click("#ip-versions th:has-text('CCA') >> button")
    pairs = list(zip(column(page, "ip-versions", 3), column(page, "ip-versions", 2), strict=True))
    # Scenarios are labelled 1 to 12: as text 10 would come before 2.
    assert pairs == sorted(pairs, key=lambda pair: (pair[0], int(pair[1])))
    # Vegas loses nothing without random loss, so all its pairs are one measurement and have no p.
    page.select_option("#ip-versions label:has-text('Metric') select", label="Retransmissions")
    page.click("#ip-versions th:has-text('p, BH') >> button")
    for _ in range(2):
        known = [text != "–" for text in column(page, "ip-versions", 16)]
        assert known == sorted(known, reverse=True) and not all(known)
        page.click("#ip-versions th:has-text('p, BH') >> button")


@pytest.mark.slow
def test_heads_sort_by_keyboard(real_shape, visit):
    page = visit(real_shape.page)
    page.focus("#cca-tests th:has-text('Statistic') button")
    page.keyboard.press("Enter")
    up = numbers(column(page, "cca-tests", 7))
    assert up == sorted(up)
    page.keyboard.press("Space")
    down = numbers(column(page, "cca-tests", 7))
    assert down == sorted(down, reverse=True) and down != up
    assert page.evaluate("document.activeElement.className") == "sort"


@pytest.mark.slow
def test_choices_and_words_filter_rows_and_count_them(real_shape, visit):
    page = visit(real_shape.page)
    table = pd.read_csv(real_shape.table("ip_versions"), keep_default_na=False)
    assert status(page, "ip-versions") == "72 of 288 rows"  # goodput at first
    page.select_option("#ip-versions label:has-text('Metric') select", label="Packet loss")
    page.select_option("#ip-versions label:has-text('CCA') select", label="bbr")
    assert set(column(page, "ip-versions", 1)) == {"Packet loss"}
    assert set(column(page, "ip-versions", 3)) == {"bbr"}
    assert status(page, "ip-versions") == "12 of 288 rows"
    page.select_option("#ip-versions label:has-text('Metric') select", label="all")
    page.select_option("#ip-versions label:has-text('CCA') select", label="all")
    verdict = table["verdict"].value_counts().index[-1]
    page.select_option("#ip-versions label:has-text('Verdict') select", label=verdict)
    assert status(page, "ip-versions").startswith(f"{(table['verdict'] == verdict).sum()} of 288 rows")
    page.select_option("#ip-versions label:has-text('Verdict') select", label="all")
    page.fill("#ip-versions input", "WESTWOOD")
    assert status(page, "ip-versions") == "48 of 288 rows"
    page.fill("#ip-versions input", "no such words")
    assert status(page, "ip-versions") == "0 of 288 rows"
    assert page.locator("#ip-versions tbody tr").count() == 0
    assert page.problems == []


@pytest.mark.slow
def test_minus_can_be_typed_as_a_hyphen(real_shape, visit):
    page = visit(real_shape.page)
    shown = next(text for text in column(page, "ip-versions", 9) if text.startswith("−"))
    page.fill("#ip-versions input", shown.replace("−", "-"))
    assert shown in column(page, "ip-versions", 9)


@pytest.mark.slow
def test_long_tables_come_in_pages_of_all_their_rows(all_ccas, visit):
    page = visit(all_ccas.page)
    total = 17 * 16 // 2 * 2
    assert status(page, "cca-pairs") == f"{total} of 1,088 rows, the first 100 shown"
    page.click("#cca-pairs .more-rows")
    assert page.locator("#cca-pairs tbody tr").count() == 200
    page.click("#cca-pairs .more-rows")
    assert page.locator("#cca-pairs .more-rows").is_hidden()
    assert page.locator("#cca-pairs tbody tr").count() == total
    page.click("#cca-pairs th:has-text('Difference') >> button")
    page.click("#cca-pairs th:has-text('Difference') >> button")
    first = column(page, "cca-pairs", 9)[0]
    effects = pd.read_csv(all_ccas.table("cca_pairs"))
    largest = effects.loc[effects["metric"] == "goodput_mbps", "effect"].max()
    assert float(first.strip("+ %").replace(",", "")) == pytest.approx(largest, rel=0.01)
    assert page.locator("#cca-pairs tbody th[scope=row]").count() == total
    assert page.problems == []


def test_long_table_without_script_says_that_it_is_a_part(all_ccas, visit):
    page = visit(all_ccas.page, java_script_enabled=False)
    assert page.locator("#cca-pairs tbody tr").count() == 100
    assert page.locator("#cca-pairs noscript").inner_text().startswith("These are the first 100 of 1,088 rows")


@pytest.mark.slow
def test_verdicts_are_told_by_sign_and_word_not_by_colour_alone(two_methods, visit):
    page = visit(two_methods.page)
    signs = page.evaluate(
        "[...document.querySelectorAll('#claims-table td.verdict')].map((e) =>"
        " [e.textContent, getComputedStyle(e, '::before').content.split('/')[0].trim()])"
    )
    by_word = {}
    for word, sign in signs:
        by_word.setdefault(word, set()).add(sign)
    assert all(len(of_word) == 1 for of_word in by_word.values())
    assert len(set.union(*(by_word[word] for word in ("reproduced", "not reproduced", "not testable")))) == 3


@pytest.mark.slow
def test_paper_shows_the_rows_that_the_screen_shows(real_shape, visit):
    page = visit(real_shape.page, 688, 1001)
    page.select_option("#ip-versions label:has-text('CCA') select", label="reno")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#ip-versions tbody tr").count() == 12
    assert page.locator("#ip-versions .rows").is_visible()  # says "12 of 288 rows"
    assert page.locator("#ip-versions select").first.is_hidden()
    head = page.locator("#ip-versions th button").first
    assert head.evaluate("e => getComputedStyle(e).display") == "contents"  # or pages after the first lack it
    clipped = page.evaluate(
        "[...document.querySelectorAll('.data .scroll')].filter((e) => e.scrollHeight > e.clientHeight + 1).length"
    )
    assert clipped == 0
    for section in ("method", "ip-version", "published", "claims", "threats", "statistics"):
        assert page.locator(f"#{section}-heading").is_visible()
    assert page.locator("#published-rtt-figure svg").first.is_visible()
