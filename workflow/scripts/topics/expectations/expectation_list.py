"""Validate and complete the expectations in a study's file and claims file, before anything runs."""

import copy
from functools import lru_cache
from pathlib import Path

import yaml

from study_files.program_ccas import programs_under_test
from study_files.strict_yaml import FileError
from study_files.study_design import is_changing
from study_files.study_validation import nearest_choice, problems_of_form, value_text
from topics.claims.claims_file import completed_claims, impossible_bounds, schema_for

SCHEMA_PATH = Path(__file__).resolve().parents[3] / "schemas" / "expectation.schema.yaml"
#: Keys of a claim that apply to papers but not to expectations.
OF_PAPERS = ("section", "published", "tolerance", "remark", "cause", "untestable", "needs_real_clock", "expect")
#: Keys that state how the value in a table row is judged.
JUDGED_BY = ("requirement", "one_of", "none_of")
NUMBERS = ("number", "count", "ordinal")
#: Keys that contain values of a column.
OF_VALUES = ("one_of", "none_of")


class ExpectationError(FileError):
    """Raised for an expectation that can't be checked as written."""


def expected_of_claims(claims) -> list[dict]:
    """Return the expectations that a claims file states with the key `expect`.

    ``claims`` is the result of `claims_file.load_claims`.
    """
    expectations = []
    for claim in claims["claims"] if claims else ():
        if verdicts := claim.get("expect"):
            asked = {"table": "claims", "where": {"claim": [claim["id"]]}, "column": "verdict", "one_of": verdicts}
            expectations.append({"id": claim["id"], "statement": claim["statement"], **asked})
    return expectations


def expectations_of(study, source, tables) -> dict:
    """Validate and complete the expectations of a resolved study.

    Raises `ExpectationError` with one sentence for each problem.

    Parameters
    ----------
    study : dict
        Resolved study, whose ``analysis.expect`` already includes the expectations stated in its claims file.
    source : str
        Name of the study's file, used in messages.
    tables : iterable of run_tables.table.Table
        Tables that the study's results will include.

    Returns
    -------
    dict
        ``ids``: the names of the expectations, in the file's order. ``predicates``: the expectations that are predicates, in the form of a
        claims file (see `claims_file.load_claims`) with the study's scenarios; None if no expectation is a predicate. ``rows``: the
        expectations about tables, with all keys.
    """
    expect = study["analysis"]["expect"]
    content = {
        "paper": {"title": study["title"], "authors": "the study"},
        "ccas": study["ccas"],
        "ip_versions": study["ip_versions"],
        "scenarios": [{"id": scenario["id"]} for scenario in study["scenarios"]],
        "claims": expect,
    }
    problems = problems_of_form({"claims": expect}, _schema([*study["cca_definitions"], *programs_under_test(study)]))
    if not problems:
        known = {table.name: table for table in tables if table.suffix == "csv"}
        rows = [_completed_row(one, known) for one in expect if "table" in one]
        predicates = [_as_claim(one) for one in expect if "table" not in one]
        content, problems = completed_claims(content | {"claims": predicates})
        absent = _absent_tables(study)
        known = {name: table for name, table in known.items() if name not in absent}
        ids = [one["id"] for one in expect]
        problems += [f"claims[{name}] occurs twice; allowed: each name once." for name in _repeated(ids)]
        problems += [f"claims[{one['id']}].{problem}" for one in rows for problem in _impossible(one, known)]
    if problems:
        raise ExpectationError(source, [problem.replace("claims[", "analysis.expect[") for problem in problems])
    for scenario in content["scenarios"]:
        scenario["scenario"] = [scenario["id"]]  # a condition that no other scenario meets
    return {"ids": ids, "predicates": content if predicates else None, "rows": rows}


def _absent_tables(study):
    """Return the names of tables that no expectation can be about.

    These are the tables that don't exist for this study, and the table of expectations itself.
    """
    there = {
        "controls": study["controls"] != "none",
        "changes": any(map(is_changing, study["scenarios"])),
        "groups": any(scenario["groups"] for scenario in study["scenarios"]),
    }
    return {"expectations", *(name for name, has in there.items() if not has)}


@lru_cache(maxsize=1)
def _row_schema():
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schema = yaml.load(SCHEMA_PATH.read_text(encoding="utf-8"), Loader=loader)
    # In a part of another schema, this key would select jsonschema's own class, which accepts NaN as a number.
    del schema["$schema"]
    return schema


def _schema(own_ccas):
    """Return the schema of a mapping whose ``claims`` are a study's expectations; `own_ccas` are the CCAs and programs that the study defines."""
    schema, of_row = copy.deepcopy(schema_for(own_ccas)), _row_schema()
    items = schema["properties"]["claims"]["items"]
    items["allowed"] = "a mapping with the keys id, kind, quantity and the keys of its kind, or id, table and column"
    for branch in items["allOf"]:
        kind = branch["then"]
        kind["properties"] = {key: node for key, node in kind["properties"].items() if key not in OF_PAPERS}
        kind["properties"] |= {key: of_row["properties"][key] for key in ("statement", "must_be")}
        kind["required"] = [key for key in kind["required"] if key not in (*OF_PAPERS, "statement")]
    either = {
        "type": "object",
        "allowed": items["allowed"],
        "if": {"required": ["table"]},
        "then": of_row,
        "else": items,
    }
    return {"type": "object", "properties": {"claims": {"type": "array", "items": either}}}


def _as_claim(one):
    statement = one.get("statement", "") or one["id"]
    of_paper = dict.fromkeys(("section", "published", "tolerance"), "none")
    return {**one, "must_be": one.get("must_be", "shown"), "statement": statement, **of_paper}


def _column(one, tables):
    """Return the declared column that an expectation is about, or None."""
    table = tables.get(one["table"])
    return table[one["column"]] if table and one["column"] in table.names else None


def _completed_row(one, tables):
    defaults = {key: node["default"] for key, node in _row_schema()["properties"].items() if "default" in node}
    row = copy.deepcopy({**defaults, **one})
    if not row["interval"] and (column := _column(one, tables)) and column.interval:
        row["interval"] = [f"{column.interval}_low", f"{column.interval}_high"]
    row["where"] = {key: value if isinstance(value, list) else [value] for key, value in row["where"].items()}
    return row


def _repeated(names):
    return sorted({name for name in names if names.count(name) > 1})


def _impossible(one, tables):
    """Yield problems with an expectation about a table. Each sentence begins with the key that makes the check impossible."""
    judges = [key for key in JUDGED_BY if key in one]
    keys = f"allowed: one of the keys {', '.join(JUDGED_BY)}"
    if len(judges) != 1:
        yield f"{judges[1]} is given as well as {judges[0]}; {keys}." if judges else f"one_of is missing; {keys}."
        return
    if one["table"] not in tables:
        yield f"table is {one['table']}; {_meant(one['table'], tables)}: the tables that this study will have: {', '.join(tables)}."
        return
    table = tables[one["table"]]
    asked = {"column": one["column"], **{f"where.{name}": name for name in one["where"]}}
    asked |= {f"interval[{place}]": name for place, name in enumerate(one["interval"])}
    unknown = [(key, name) for key, name in asked.items() if name not in table.names]
    for key, name in unknown:
        yield f"{key} is {name}; {_meant(name, table.names)}: the columns of {table.name}: {', '.join(table.names)}."
    if unknown:
        return
    kind = table[one["column"]].kind
    if (judges == ["requirement"]) != (kind in NUMBERS) and kind != "ordinal":
        allowed = "requirement" if kind in NUMBERS else "one_of or none_of"
        yield f"{judges[0]} is given, and {one['column']} of {table.name} is {kind}; allowed: {allowed}."
    if one["interval"] and judges != ["requirement"]:
        yield f"interval is {value_text(one['interval'])}; allowed: only with requirement, and only for a number."
    if kind == "number" and table.folder == "analysis" and one["must_be"] == "shown" and not one["interval"]:
        yield f"interval is missing, and {one['column']} of {table.name} is an estimate; allowed: an interval, such as [low, high], or must_be: not-refuted."
    for place, name in enumerate(one["interval"]):
        if table[name].kind not in NUMBERS:
            yield f"interval[{place}] is {name}, and this column is {table[name].kind}; allowed: columns of numbers."
    yield from impossible_bounds("requirement", one.get("requirement", {}))
    values = [(f"where.{name}", table[name], one["where"][name]) for name in one["where"]]
    if kind in ("truth", "ordinal"):
        values += [(key, table[one["column"]], one[key]) for key in OF_VALUES if key in one]
    yield from _values_of_other_kinds(values)
    yield from _impossible_values(one, judges, table[one["column"]], table.name)


def _values_of_other_kinds(values):
    """Yield a problem for each value that no cell of its column can equal; ``values`` are tuples of key, column and values."""
    for key, column, given in values:
        for value in given:
            if column.kind == "truth" and not isinstance(value, bool):
                yield f"{key} has {value_text(value)}, and {column.name} is true or false; allowed: true and false, without quotes."
            elif column.kind in NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
                yield f"{key} has {value_text(value)}, and {column.name} is a number; allowed: numbers, without quotes."


def _impossible_values(one, judges, column, table):
    """Yield problems with an expectation's values, and with its use of `none_of` and `accept`. Each sentence begins with the key."""
    if one["accept"] and judges != ["none_of"]:
        yield f"accept is {value_text(one['accept'])}; allowed: only with none_of."
    if judges == ["none_of"] and column.kind == "text" and column.unmeasured is None:
        yield f"none_of is given, and {table} doesn't declare which values of {column.name} mean that nothing was measured; allowed: one_of."
        return
    allowed = [*(column.unmeasured or ()), ""]
    for value in one["accept"]:
        if value not in allowed:
            yield f"accept has {value_text(value)}; allowed: values that mean that nothing was measured: {', '.join(map(value_text, allowed))}."


def _meant(name, choices):
    near = nearest_choice(name, choices)
    return f"did you mean '{near}'? Allowed" if near else "allowed"
