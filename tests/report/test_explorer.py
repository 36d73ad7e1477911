"""The page on which a reader asks the runs: what is chosen holds for all of it, and a mark leads to its run."""

import base64
import gzip
import json
import re

import pandas as pd
import pytest

from page_checks import OVERFLOWING
from report_page.write_explorer import packed, page_data


@pytest.fixture(scope="module")
def explorer(small):
    return small.write_explorer()


def data_of(page):
    (text,) = re.findall(r'data-gzip="([^"]+)"', page.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_its_values_are_those_of_the_table(explorer, small):
    runs, data = pd.read_csv(small.table("runs")), data_of(explorer)
    assert [one["column"] for one in data["measures"]][:2] == ["rtt_mean_ms", "goodput_mbps"]
    for column, values in data["runs"]["values"].items():
        shown = pd.Series(values, dtype=float)
        assert shown.isna().equals(runs[column].isna())
        assert ((shown - runs[column]).abs() <= 1e-6 * runs[column].abs()).where(shown.notna(), True).all()
    assert [data["ccas"][place]["key"] for place in data["runs"]["cca"]] == list(runs["cca"])


def test_it_loads_nothing_and_has_networks_and_means_without_scripts(explorer):
    html = explorer.read_text(encoding="utf-8")
    assert not re.search(r'(src|srcset)="|url\(|@import', html)
    assert html.count('<svg class="topology"') == 2
    assert html.count('<tr><th scope="row">') == 4


def test_what_is_chosen_holds_for_charts_and_table_and_stands_in_the_address(explorer, visit):
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    whole = page.locator("#scatter .mark").count()
    assert whole == page.locator("#strips .mark").count() == 16
    page.locator("#choose-cca label", has_text="CUBIC").locator("input").uncheck()
    assert page.locator("#scatter .mark").count() == page.locator("#strips .mark").count() == 8
    assert page.locator("#shown tbody td", has_text="CUBIC").count() == 0
    page.select_option("#y", label="retransmit_percent, %")
    page.locator("#log-x").check()
    assert "cca=reno" in page.url and "y=retransmit_percent" in page.url and "logx=1" in page.url
    again = visit(explorer)
    again.goto(page.url)
    again.reload()
    again.wait_for_selector("#asked:not([hidden])")
    assert again.locator("#scatter .mark").count() == 8
    assert again.locator("#log-x").is_checked()
    assert page.problems == []


def test_a_mark_leads_to_its_run_and_the_command_that_repeats_it(explorer, small, visit):
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    mark = page.locator("#strips .mark").last
    mark.focus()
    page.keyboard.press("Enter")
    run = pd.read_csv(small.table("runs")).iloc[-1]
    text = page.inner_text("#run")
    path = f"runs/{run['scenario']}/{run['cca']}/{run['ip_version']}/{run['replication']}.json.gz"
    assert f"--force results/synthetic/{path}" in text and f"Seed {run['seed']}" in text
    assert "checks passed" in text


def test_a_part_of_the_scatter_fills_it_and_all_comes_back(explorer, visit):
    page = visit(explorer, 1400, 900)
    page.wait_for_selector("#asked:not([hidden])")
    box = page.locator("#scatter svg").bounding_box()
    before = page.locator("#scatter .mark").count()
    page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.06 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 0.8 * box["height"])
    page.mouse.up()
    assert page.locator("#scatter .mark").count() < before
    page.click("#whole")
    assert page.locator("#scatter .mark").count() == before


@pytest.mark.parametrize("width", [400, 1400, 2560])
def test_nothing_is_too_wide(explorer, visit, width):
    page = visit(explorer, width, 900)
    page.wait_for_selector("#asked:not([hidden])")
    assert page.evaluate(OVERFLOWING) == []


def test_a_run_under_a_real_clock_is_not_said_to_have_the_same_bytes(small):
    runs, scenarios = (pd.read_csv(small.table(name)) for name in ("runs", "scenarios"))
    scenarios["platform"] = ["uml", "host"]
    data = page_data(runs, scenarios, pd.DataFrame(), "s")
    assert [one["repeatable"] for one in data["scenarios"]] == [True, False]


def test_many_runs_fit_into_the_page(small):
    runs = pd.read_csv(small.table("runs"), keep_default_na=False, na_values=[""])
    many = pd.concat([runs] * (14_400 // len(runs)), ignore_index=True)
    many["goodput_mbps"] *= 1 + many.index / 1e6  # what repeats is packed too well
    scenarios = pd.read_csv(small.table("scenarios"))
    data = page_data(many, scenarios, pd.DataFrame(), "s")
    assert len(data["runs"]["seed"]) == len(many) > 14_000
    assert len(packed(data)) < 4_000_000
