"""Read and validate a file of a paper's claims, and fill in defaults.

The predicates themselves are in `claim_predicates` and `claim_groups`.
"""

import copy
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import yaml

from study_files.strict_yaml import FileError, read_mapping
from study_files.study_validation import problems_of_form, value_text
from topics.claims.claim_quantities import LEVELS, RELATIONS, SIDES, STATES, quantities_of
from topics.claims.claim_versions import version_of
from wording.number_format import count

SCHEMA_PATH = Path(__file__).resolve().parents[3] / "schemas" / "claims.schema.yaml"


class ClaimsError(FileError):
    """Raised for a claims file that can't be checked as written."""


def load_claims(path) -> dict:
    """Read, validate and complete a claims file.

    Returns a dict of plain lists, dicts, texts and numbers: ``paper`` (with ``tables`` only if the file gives printed values),
    ``ccas``, ``ip_versions``, ``scenarios`` (a list of dicts whose conditions are lists of values or ranges) and ``claims``
    (a list of dicts, each with all keys that its kind of claim allows). Raises `ClaimsError` with one sentence for each problem.
    """
    content = read_mapping(path, "a claims file", claims_schema()["required"], ClaimsError)
    problems = problems_of_form(content, schema_for(content.get("own_ccas")))
    if not problems:
        content, problems = completed_claims(content)
    if problems:
        raise ClaimsError(path, problems)
    return content


def completed_claims(content) -> tuple[dict, list[str]]:
    """Fill in the defaults of a schema-valid claims file; return the complete content, and a list of contradictions in it."""
    complete = _complete(content)
    return complete, _contradictions(complete)


def claims_version(path) -> dict:
    """Return the result of `claim_versions.version_of` for a claims file that `load_claims` accepts."""
    content = read_mapping(path, "a claims file", ["claims"], ClaimsError)
    return version_of(content, hashlib.sha256(Path(path).read_bytes()).hexdigest())


@lru_cache(maxsize=1)
def claims_schema() -> dict:
    """Return the schema of a claims file as a dict. The dict is shared, so don't change it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(SCHEMA_PATH.read_text(encoding="utf-8"), Loader=loader)


def schema_for(own_ccas) -> dict:
    """Return the schema for a claims file that may also use `own_ccas`, which are CCAs that studies define.

    If there are no such CCAs, the result is the shared dict of `claims_schema`.
    """
    names = [name for name in own_ccas if isinstance(name, str)] if isinstance(own_ccas, list) else []
    if not names:
        return claims_schema()
    schema = copy.deepcopy(claims_schema())
    schema["$defs"]["cca"]["enum"].extend(names)  # one shared list for all keys that may name a CCA
    return schema


def kind_schema(kind) -> dict:
    """Return the schema for claims of one kind."""
    return claims_schema()["$defs"][kind]


def _complete(content):
    """Return the content with every key that the schema defines, in the schema's order."""
    schema = claims_schema()["properties"]
    complete = {
        "paper": _complete_paper(content["paper"], schema["paper"]),
        "ccas": list(content["ccas"]),
        "ip_versions": list(content.get("ip_versions", ("ipv4", "ipv6"))),
        "scenarios": [
            {key: value if key == "id" or isinstance(value, (list, dict)) else [value] for key, value in item.items()}
            for item in content["scenarios"]
        ],
    }
    of_all = {key: content[key] for key in ("expect",) if key in content}
    complete["claims"] = [_complete_claim(of_all | claim, _levels(complete)) for claim in content["claims"]]
    return complete


def _levels(content):
    """Return the names that a claim may use for scenarios, CCAs and IP versions, by key of the claim."""
    names = {key: content[key] for key in LEVELS}
    return names | {"scenarios": [scenario["id"] for scenario in content["scenarios"]]}


def _complete_paper(paper, node):
    complete = _filled(node, paper)
    if "tables" in complete:
        nodes = node["properties"]["tables"]["properties"]
        complete["tables"] = {
            name: _filled(nodes[name], table) if isinstance(table, dict) else table
            for name, table in complete["tables"].items()
        }
    return copy.deepcopy(complete)


def _complete_claim(claim, everywhere):
    schema = kind_schema(claim["kind"])
    complete = everywhere | _filled(schema, claim)
    _complete_measure(complete)
    if claim["kind"] == "ordering":
        complete.setdefault("among", everywhere["ccas"])
    for side in SIDES.get(claim["kind"], ()):
        levels = {key: complete[key] for key in LEVELS}
        complete[side] = levels | _filled(schema["properties"][side], complete[side])
        _complete_measure(complete[side])
    return copy.deepcopy(complete)


def _complete_measure(complete):
    for key in ("flows", "over_time"):
        if key in complete:
            complete[key] = _filled(claims_schema()["$defs"][key], complete[key])


def _filled(node, values):
    defaults = {key: child["default"] for key, child in node["properties"].items() if "default" in child}
    return {**defaults, **values}


def _contradictions(content):
    """List problems that the schema can't express, such as keys that exclude each other."""
    problems = []
    for section in ("scenarios", "claims"):
        ids = [item["id"] for item in content[section]]
        problems += [
            f"{section}[{position}].id is '{name}' as in {section}[{ids.index(name)}]; "
            "allowed: an id that no other has."
            for position, name in enumerate(ids)
            if ids.index(name) < position
        ]
    problems += [
        f"scenarios[{scenario['id']}].{problem}"
        for scenario in content["scenarios"]
        for key, allowed in scenario.items()
        if isinstance(allowed, dict)
        for problem in impossible_bounds(key, allowed)
    ]
    problems += _printed_of_other_number(content["paper"].get("cells"))
    for claim in content["claims"]:
        problems += [f"claims[{claim['id']}].{problem}" for problem in _contradictions_of(claim, content)]
    return problems


def _printed_of_other_number(cells):
    """List the printed rows that don't have one value per message size."""
    return [
        f"paper.cells.values[{place}].{name} has {len(entry[name])} values; "
        f"allowed: {len(cells['message_bytes'])}, one for each of message_bytes."
        for place, entry in enumerate(cells["values"] if cells else ())
        for name in ("mean", "sd")
        if name in entry and len(entry[name]) != len(cells["message_bytes"])
    ]


def _contradictions_of(claim, content):
    known = _levels(content) | {"among": content["ccas"]}
    sides = {"": claim} | {f"{side}.": claim[side] for side in SIDES.get(claim["kind"], ())}
    for prefix, chosen in sides.items():
        for key, allowed in known.items():
            for name in chosen.get(key, ()):
                if name not in allowed:
                    yield f"{prefix}{key} has '{name}'; allowed: the names in the file's list: {', '.join(allowed)}."
    for prefix in [name for name in sides if name] or [""]:
        yield from _impossible_measure(prefix, claim, claim | sides[prefix])
    yield from _impossible_requirement(claim)
    if claim["kind"] == "ordering":
        yield from _impossible_place(claim, content["ccas"])
    elif claim["kind"] in SIDES:
        yield from _impossible_sides(claim)
    elif claim["kind"] == "dominance" and claim["stronger"] == claim["weaker"]:
        yield f'weaker is "{claim["weaker"]}", the same as stronger; allowed: another factor.'
    if claim["kind"] in ("equivalence", "no_difference", "dominance") and len(claim["ip_versions"]) < 2:
        yield f"ip_versions is {value_text(claim['ip_versions'])}; allowed: both, because they are compared."


def _impossible_sides(claim):
    """Report keys that exclude each other in the two groups of a claim."""
    first, second = SIDES[claim["kind"]]
    if claim[first] == claim[second]:
        yield f"{first} is the same as {second}; allowed: another."
    numbers = [len(claim[side]["scenarios"]) for side in (first, second)]
    if claim["kind"] == "largest_difference":
        if claim["at"] not in claim[first]["scenarios"]:
            names = ", ".join(claim[first]["scenarios"])
            yield f"at is '{claim['at']}'; allowed: those of {first}.scenarios: {names}."
        if numbers[0] < 2:
            yield f"{first}.scenarios has one name; allowed: two or more, because their differences are compared."
    each = claim.get("each", ["scenario"])
    if "scenario" in each and numbers[0] != numbers[1]:
        yield (
            f"{first}.scenarios has {count(numbers[0], 'name')}, but {second}.scenarios has {numbers[1]}; "
            "allowed: equal numbers, because the scenarios are compared one by one."
        )
    for side in (first, second):
        for key, factor in LEVELS.items():
            if factor != "scenario" and factor in each and claim[side][key] != claim[key]:
                yield f'{side}.{key} is given, but each has "{factor}"; allowed: only one of the two.'


def _impossible_requirement(claim):
    requirement = claim.get("requirement", {})
    if {"replicates", "standard_error"} & set(requirement):
        yield from _impossible_replication(claim, requirement)
        return
    problems = list(impossible_bounds("requirement", requirement))
    yield from problems
    if not problems and len(requirement) < 2:
        for key in ("pick", "combine"):
            if claim.get(key) == "farthest":
                yield f"requirement is {value_text(requirement)}; allowed with {key} farthest: a requirement with two bounds."
    if claim.get("combine") == "farthest" and 0 in requirement.values():
        yield f"requirement is {value_text(requirement)}; allowed with combine farthest: bounds above 0."


def impossible_bounds(where, bounds) -> Iterator[str]:
    """Yield a problem if no number can satisfy the bounds, or if the bounds are redundant; ``where`` is the key of the bounds."""
    lows = [key for key in ("above", "at_least") if key in bounds]
    highs = [key for key in ("below", "at_most") if key in bounds]
    if len(lows) > 1 or len(highs) > 1:
        yield f"{where} has two bounds on the same side; allowed: one."
    elif lows and highs:
        low, high = bounds[lows[0]], bounds[highs[0]]
        if low > high or (low == high and (lows, highs) != (["at_least"], ["at_most"])):
            yield f"{where} is {value_text(bounds)}; allowed: an upper bound above the lower one."


def _impossible_replication(claim, requirement):
    if set(requirement) != {"replicates", "standard_error"}:
        yield f"requirement is {value_text(requirement)}; allowed: bounds, or replicates with standard_error."
    for key, allowed in (("pick", "mean"), ("each", [])):
        if claim.get(key, allowed) != allowed:
            yield f"{key} is {value_text(claim[key])}; allowed with replicates: {value_text(allowed)}, because only one value is compared."
    for side in SIDES.get(claim["kind"], ()):
        if claim[side]["pick"] != "mean":
            yield f'{side}.pick is {value_text(claim[side]["pick"])}; allowed with replicates: "mean", because only one value is compared.'


def _impossible_measure(prefix, claim, chosen):
    """Report keys that exclude each other in the measure of a claim or of one of its groups.

    `prefix` is the beginning of the group's keys, or empty for the claim itself.
    """
    quantity, flows, over_time = claim["quantity"], chosen.get("flows") or {}, chosen.get("over_time")
    known = quantities_of(chosen)
    level = "over_time" if over_time else "flows" if flows else "neither flows nor over_time"
    if quantity not in known:
        yield f'quantity is "{quantity}"; allowed with {level}: one of {", ".join(known)}.'
        return
    relation, unit = claim.get("relative_to"), known[quantity][1]
    if relation and unit not in RELATIONS[relation][1]:
        yield f'relative_to is "{relation}"; allowed only with quantities in {" or ".join(RELATIONS[relation][1])}.'
    elif relation in ("fair_share", "total") and level.startswith("neither"):
        yield f'relative_to is "{relation}"; allowed without flows: link.'
    if (flows.get("take") == "count") != ("within" in flows):
        yield f"{prefix}flows is {value_text(flows)}; allowed: within if take is count, and only then."
    yield from impossible_bounds(f"{prefix}flows.within", flows.get("within", {}))
    inside = {part for cca in chosen["ccas"] for part in cca.split("+")}
    if flows.get("cca") and flows["cca"] not in inside:
        yield f'{prefix}flows.cca is "{flows["cca"]}"; allowed: those of ccas: {", ".join(sorted(inside))}.'
    if over_time:
        yield from _impossible_time(prefix, quantity, over_time)


def _impossible_time(prefix, quantity, over_time):
    start, end = over_time["from_percent"], over_time["to_percent"]
    if start >= end:
        yield f"{prefix}over_time.to_percent is {end}; allowed: more than from_percent, {start}."
    if over_time["take"] == "beginnings" and quantity not in STATES:
        where = f'{prefix}over_time.take "beginnings"'
        yield f'quantity is "{quantity}"; allowed with {where}: one of {", ".join(STATES)}.'


def _impossible_place(claim, known):
    outside = [name for name in claim["ccas"] if name in known and name not in claim["among"]]
    if outside:
        yield f"ccas has '{outside[0]}'; allowed: those of among: {', '.join(claim['among'])}."
    if claim["places"] >= len(claim["among"]):
        yield f"places is {claim['places']}; allowed: less than {len(claim['among'])}, the number of CCAs in among."
    if claim["place"] == "middle" and (claim["places"] > 1 or len(claim["among"]) < 3):
        yield 'place is "middle"; allowed only with places 1 and at least three CCAs in among.'
