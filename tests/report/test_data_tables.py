"""The page's data tables: long ones, differences, rows of another length."""

import base64
import gzip
import json
import re

import pandas as pd
import pytest

import tidy_tables
from report_parts.data_tables import PageColumn, data_table, signed


def test_long_table_is_carried_whole(all_ccas):
    html = all_ccas.page.read_text()
    pairs = pd.read_csv(all_ccas.table("cca_pairs"), keep_default_na=False)
    assert len(pairs) == 17 * 16 // 2 * 2 * 4
    packed = re.search(r'id="cca-pairs" data-gzip="([^"]+)"', html).group(1)
    rows = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert len(rows) == len(pairs)
    assert {row[3] for row in rows} | {row[4] for row in rows} == set(tidy_tables.ALL_CCAS)
    effects = [row[8][1] for row in rows if isinstance(row[8], list)]
    known = pd.to_numeric(pairs["effect"]).dropna()
    assert effects == pytest.approx(list(known), rel=1e-12)
    assert "These are the first 100 of 1,088 rows" in html


def test_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="table t: 1 cells for 2 columns"):
        data_table("t", "T", [PageColumn("a"), PageColumn("b")], [["x"]])


@pytest.mark.parametrize(
    "value, shown",
    [(-1.381, "−1.38"), (0.25, "+0.25"), (0.0, "0"), (-0.00001, "0.0000"), (-99.13, "−99.1"), (1234.5, "+1,234")],
)  # fmt: skip
def test_differences_as_shown(value, shown):
    assert signed(value, 4 if abs(value) == 0.00001 else None) == shown
