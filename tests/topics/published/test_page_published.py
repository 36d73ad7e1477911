"""The page's section "As published": the paper's tables with its printed values beside ours."""

import re

import pandas as pd
import pytest

import tidy_tables
from topics.published.topic import IP_PAPER
from wording import number_format


def test_pooled_tables_have_the_papers_layout(real_shape):
    html = real_shape.page.read_text()
    pooled = pd.read_csv(real_shape.table("pooled"))
    for row in pooled.to_dict("records"):
        assert f"<td>{number_format.number(row['mean'])}</td>" in html
    assert "TCP performs better over IPv6." in html
    assert "occurs" in html  # what the mode is


def published_rows(html, number):
    """Return the rows of table 3 or 5 in "As published": texts of their cells, and whether they are in italics."""
    table = re.search(rf'aria-label="Table {number}" tabindex="0">(.*?)</table>', html, re.DOTALL).group(1)
    rows = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table.split("</thead>")[1], re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        rows.append([re.sub(r"<sup>.*?</sup>| *<span.*?</span>", "", cell) for cell in cells])
    return rows


def in_italics(row, header):
    """Return a printed row as on the page: everything but its header is in italics."""
    return [header, *(f"<i>{text}</i>" for text in row)]


def test_printed_values_stand_below_ours_in_table_3(real_shape):
    rows = published_rows(real_shape.page.read_text(), 3)
    pooled = pd.read_csv(real_shape.table("pooled"))
    assert len(rows) == 4 * (1 + 2 * 2)
    for place, ours in enumerate(pooled.to_dict("records")):
        group, first = divmod(place, 2)
        assert rows[5 * group] == [f"{ours['name']}, {ours['unit']}"]
        here = rows[5 * group + 1 + 2 * first]
        ip_version = ours["ip_version"].replace("ip", "IP")
        assert here[:4] == [ip_version, "here", str(ours["n"]), number_format.number(ours["mean"])]
        assert rows[5 * group + 2 + 2 * first][:3] == in_italics(["printed", "7,200"], ip_version)
    statistics = ["319", "82", "997.8", "390", "0.738", "6.55445e-75"]
    assert rows[4] == in_italics(["printed", "7,200", *statistics], "IPv6")
    # 107,165, 199,482, 20,094 and 73,324.3 microseconds.
    statistics = ["107.165", "199.482", "20.094", "73.3243", "0.798", "8.75814e-70"]
    assert rows[9] == in_italics(["printed", "7,200", *statistics], "IPv6")
    assert rows[12][5:7] == ["<i>0</i>", "<i>2.9</i>"]
    assert rows[17][3] == "<i>15,376</i>"


def test_printed_values_stand_below_ours_in_table_5(real_shape):
    rows = published_rows(real_shape.page.read_text(), 5)
    ours = pd.read_csv(real_shape.table("pooled_tests")).to_dict("records")
    assert [row[:2] for row in rows[::2]] == [[row["name"], "here"] for row in ours]
    assert [row[4] for row in rows[::2]] == [number_format.p_value(row["p"]) for row in ours]
    printed = [
        ("26,771,453", "0.619"), ("27,022,599", "0.138"), ("26,470,672.5", "0.491"), ("26,479,749", "0.514"),
    ]  # fmt: skip
    assert rows[1::2] == [
        in_italics(["printed", "7,200 and 7,200", u, p, "H0"], row["name"])
        for (u, p), row in zip(printed, ours, strict=True)
    ]


def test_remarks_on_printed_values_stand_below_their_tables(real_shape):
    html = real_shape.page.read_text()
    places = [html.index(words) for words in (
        "<h3>Table 3", "looks like a typing error", "<h3>Table 4", "<h3>Table 5", "only with 7,300 runs",
        "Table 5 (CSV)",
    )]  # fmt: skip
    assert places == sorted(places)


def one_cell(build, ip_versions=("ipv4", "ipv6")):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))
    return build(tidy_tables.synthetic_study(scenarios, ["reno"], list(ip_versions), replications=3), claims=IP_PAPER)


@pytest.mark.slow
def test_without_printed_values_the_tables_are_ours_alone(build):
    built = one_cell(build)
    paper = {"title": "A title", "authors": "An author", "script": ""}
    built.write_page(paper=paper)
    without = built.page.read_text()
    assert [len(row) for row in published_rows(without, 3)] == [9] * 8
    assert [len(row) for row in published_rows(without, 5)] == [5] * 4
    assert "as printed" not in without
    # Nor does one table need the other, or all of its rows.
    test = {"u": 5.0, "p": 0.5, "conclusion": "H1"}
    built.write_page(paper=paper | {"tables": {"runs_per_ip_version": 3, "table_5": {"retransmits": test}}})
    html = built.page.read_text()
    assert published_rows(html, 3) == published_rows(without, 3)
    assert [row[1] for row in published_rows(html, 5)] == ["here"] * 4 + ["<i>printed</i>"]
    assert published_rows(html, 5)[4] == in_italics(["printed", "3 and 3", "5", "0.5", "H1"], "Retransmissions")


@pytest.mark.slow
def test_one_ip_version_is_compared_with_its_own_printed_values(build):
    built = one_cell(build, ["ipv6"])
    rows = published_rows(built.page.read_text(), 3)
    assert [row[0] for row in rows[1:3]] == ["IPv6"] * 2
    assert rows[2][4] == "<i>82</i>"
    assert len(rows) == 4 * 3
    assert "Table 5" not in built.page.read_text()


@pytest.mark.slow
def test_hostile_printed_values_are_shown_as_text(build):
    evil = '</table><script>alert(1)</script><b a="'
    built = one_cell(build)
    statistics = dict.fromkeys(("mean", "median", "mode", "sd", "w", "p"), evil)
    tables = {
        "runs_per_ip_version": 3,
        "table_3": {"retransmits": {"ipv4": statistics}, "remark": evil},
        "table_5": {"retransmits": {"u": evil, "p": evil, "conclusion": evil}, "remark": evil},
    }
    built.write_page(paper={"title": "A title", "authors": "An author", "tables": tables})
    html = built.page.read_text()
    assert "<script>alert" not in html
    assert html.count("&lt;script&gt;alert(1)") == 6 + 1 + 3 + 1
