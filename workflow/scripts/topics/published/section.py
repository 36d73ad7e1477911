"""The section that repeats a paper's analysis in its published form."""

import itertools

from report_parts.hypothesis_cells import tiny
from report_parts.page_files import citation
from topics.published.tables import HYPOTHESES
from wording.number_format import number, plain
from wording.scenario_words import ip_words


def section(material) -> dict:
    """Return the paper's tables 3 to 5 from this study's runs, in the paper's layout."""
    tables, paper = material.tables, material.params.get("paper")
    notes_of = [
        list(filter(None, (row["mode_note"] and f"Mode: {row['mode_note']}", row["note"])))
        for row in tables.pooled.to_dict("records")
    ]
    notes = list(dict.fromkeys(itertools.chain(*notes_of)))
    pooled = [
        {
            "ip": ip_words(row["ip_version"]),
            "name": f"{row['name']}, {row['unit']}",
            "n": number(row["n"], 0),
            **{key: number(row[key]) for key in ("mean", "median", "mode", "sd")},
            "w": number(row["shapiro_w"], 3),
            "p": tiny(row["shapiro_p"]),
            "marks": [notes.index(note) + 1 for note in dict.fromkeys(own)],
        }
        for row, own in zip(tables.pooled.to_dict("records"), notes_of, strict=True)
    ]
    tests = [
        {
            "name": row["name"],
            "n": f"{number(row['n_ipv4'], 0)} and {number(row['n_ipv6'], 0)}",
            "u": number(row["u"], 1).removesuffix(".0"),
            "p": tiny(row["p"]),
            "conclusion": row["conclusion"] or "no test",
            "words": row["hypothesis"] or row["note"],
        }
        for row in tables.pooled_tests.to_dict("records")
    ]
    return {
        "pooled": pooled,
        "notes": notes,
        "hypotheses": [(name, f"{words}.") for name, words in HYPOTHESES.items()],
        "tests": tests,
        "printed": _printed_tables(tables, paper),
        "paper": citation(paper),
    }


def _printed_tables(tables, paper):
    """Return the printed values of a paper's tables 3 and 5, for display alongside this study's rows; None if there are none.

    ``pooled`` (table 3) and ``tests`` (table 5) are lists with one item per row of this study's tables: a dict of texts, or None for a row
    without printed values. A list is None if no row has printed values.
    """
    printed = (paper or {}).get("tables")
    if not printed:
        return None
    runs = number(printed["runs_per_ip_version"], 0)
    table_3, table_5 = printed.get("table_3", {}), printed.get("table_5", {})
    pooled = [
        _printed_row(table_3.get(row["metric"], {}).get(row["ip_version"]), runs)
        for row in tables.pooled.to_dict("records")
    ]
    tests = [
        _printed_row(table_5.get(row["metric"]), f"{runs} and {runs}") for row in tables.pooled_tests.to_dict("records")
    ]
    return {
        "pooled": pooled if any(pooled) else None,
        "tests": tests if any(tests) else None,
        "pooled_remark": table_3.get("remark", ""),
        "tests_remark": table_5.get("remark", ""),
    }


def _printed_row(values, runs):
    # Show as many digits as the paper does.
    return values and {"n": runs} | {
        key: value if isinstance(value, str) else plain(value) for key, value in values.items()
    }
