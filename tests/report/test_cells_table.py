"""Page tables that are made from a declared list of columns."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from report_parts.cells_table import (
    CCA,
    IP_KEY,
    IP_VERSION,
    SCENARIO,
    N,
    cells_table,
    shown_cell,
    shown_interval,
    shown_number,
    shown_p,
    shown_signed,
    shown_text,
)
from report_parts.data_tables import Cell
from wording.number_format import NONE

COMPARED, ALONE = (SimpleNamespace(ip_versions_compared=compared) for compared in (True, False))
CELLS = pd.DataFrame(
    {
        "scenario_label": ["10 ms", "20 ms"],
        "cca": ["cubic", "reno"],
        "ip_version": ["ipv4", "ipv6"],
        "n": [5, 0],
        "policer": ["1 Mbit/s", ""],
        "loss_percent": [1234.5678, np.nan],
        "loss_percent_low": [-1.5, np.nan],
        "loss_percent_high": [1300.0, np.nan],
        "p": [0.0001, np.nan],
    }
)


def headings(table):
    return [column.heading for column in table["columns"]]


def cells_of(shown, cells=CELLS):
    """Return the cells of a column."""
    return [cell for (cell,) in cells_table("t", "T", cells, [shown])["rows"]]


def test_keys_are_shown_in_words():
    table = cells_table("t", "T", CELLS, (SCENARIO, CCA, IP_VERSION, N), COMPARED)
    assert headings(table) == ["Scenario", "CCA", "IP version", "n"]
    assert table["rows"][0] == [Cell("10 ms"), Cell("CUBIC"), Cell("IPv4"), Cell("5", 5)]
    assert [(column.filtered, column.header) for column in table["columns"][:2]] == [(True, True), (True, False)]


def test_ip_version_is_left_out_by_its_name_where_none_are_compared():
    for place in range(3):
        shown = [SCENARIO, CCA]
        shown.insert(place, IP_VERSION)
        assert headings(cells_table("t", "T", CELLS, shown, ALONE)) == ["Scenario", "CCA"]
    assert headings(cells_table("t", "T", CELLS, (CCA, IP_KEY), ALONE)) == ["CCA"]
    assert headings(cells_table("t", "T", CELLS, (CCA, IP_KEY))) == ["CCA", "IP"]


def test_columns_are_left_out_by_name():
    assert headings(cells_table("t", "T", CELLS, (SCENARIO, CCA), without=["cca"])) == ["Scenario"]
    # A table that doesn't show a column needn't have it.
    bare = CELLS.drop(columns="ip_version")
    assert headings(cells_table("t", "T", bare, (CCA, IP_VERSION), ALONE)) == ["CCA"]


def test_numbers_are_rounded_when_shown_and_sorted_by_what_they_are():
    assert cells_of(shown_number("Loss", "loss_percent", 1, " %")) == [Cell("1,234.6 %", 1234.5678), Cell(NONE)]


def test_missing_values_are_dashes():
    for shown in (
        shown_number("L", "loss_percent"),
        shown_interval("L", "loss_percent", 1),
        shown_signed("L", "loss_percent"),
        shown_p("p", "p"),
    ):
        assert cells_of(shown)[1] == Cell(NONE)


def test_interval_is_sorted_by_its_lower_end():
    assert cells_of(shown_interval("I", "loss_percent", 1))[0] == Cell("−1.5 to 1,300.0", -1.5)


def test_differences_have_their_sign():
    assert cells_of(shown_signed("D", "loss_percent", 0))[0] == Cell("+1,235", 1234.5678)


def test_empty_texts_are_named():
    assert cells_of(shown_text("Policer", "policer", empty="none")) == [Cell("1 Mbit/s"), Cell("none")]


def test_custom_cells_are_made_of_the_whole_row():
    shown = shown_cell("What", lambda row: Cell(f"{row['cca']} {row['n']}", row["n"], "verdict open"), "short")
    assert cells_of(shown)[0] == Cell("cubic 5", 5, "verdict open")


def test_rows_may_be_dicts():
    assert cells_of(CCA, [{"cca": "bbr"}]) == [Cell("BBR")]
    assert cells_of(CCA, map(dict, [])) == []


@pytest.mark.parametrize("rows", [CELLS, CELLS.iloc[:0], CELLS.to_dict("records")], ids=["table", "empty", "dicts"])
def test_unknown_column_is_an_error_that_names_table_and_column(rows):
    with pytest.raises(ValueError, match="table losses: 'Interval' shows the column loss_low, loss_high, .* cca, "):
        cells_table("losses", "T", rows, (CCA, shown_interval("Interval", "loss", 1)))
