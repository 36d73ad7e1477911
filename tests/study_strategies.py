"""Hypothesis strategies for study files, drawn from the schema, so that both allowed and forbidden content is tried."""

import math

from hypothesis import strategies as st

from study_files.study_schema import dereferenced, has_directions, keys_of, study_schema

#: Values that somebody may write by mistake.
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=30),
    st.lists(st.integers(0, 3), max_size=3), st.dictionaries(st.text(max_size=5), st.integers(0, 3), max_size=3),
    st.sampled_from(["../x", "a" * 300, "?1+1", "=1+1", "x\x1b[2J", "10 ms", "1e3", "7", "007", "true", "null"]),
)  # fmt: skip
NAMES = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,8}", fullmatch=True)


def values(node):
    """Return a strategy for the values that a node of the schema allows, as far as the schema defines them."""
    node = dereferenced(node)
    if "joined" in node:
        return st.lists(st.sampled_from(node["joined"][:6]), min_size=1, max_size=3).map("+".join)
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if has_directions(node):
        one = values(node["else"])
        return st.one_of(one, st.fixed_dictionaries({"forward": one, "reverse": one}))
    if "then" in node:
        return st.one_of(values(node["else"]), values(node["then"]))
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return st.one_of([_of_kind(kind, node) for kind in kinds])


def _of_kind(kind, node):
    if kind == "null":
        return st.none()
    if kind == "boolean":
        return st.booleans()
    if kind == "string":
        return NAMES
    if kind == "integer":
        low, high = node["minimum"], node["maximum"]
        return st.one_of(st.integers(low, min(high, low + 5)), st.sampled_from([low, high]), st.integers(low, high))
    if kind == "number":
        low, high = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum", node.get("exclusiveMaximum"))
        low = low if "minimum" in node else math.nextafter(low, math.inf)
        high = high if "maximum" in node else math.nextafter(high, -math.inf)
        common = [number for number in (0, 0.5, 1, 5, 10, 50, 100) if low <= number <= high]
        return st.one_of(st.sampled_from([*common, low, high]), st.floats(low, high))
    if kind == "array":
        return st.lists(values(node["items"]), min_size=1, max_size=3)
    if "oneOf" in node or node.get("maxProperties") == 1:
        return st.one_of([st.fixed_dictionaries({key: values(child)}) for key, child in keys_of(node).items()])
    required = node.get("required", ())
    children = {key: values(child) for key, child in keys_of(node).items()}
    return st.fixed_dictionaries(
        {key: child for key, child in children.items() if key in required},
        optional={key: child for key, child in children.items() if key not in required},
    ).filter(lambda section: len(section) >= node.get("minProperties", 0))


@st.composite
def studies(draw, mistakes=True):
    """Draw a study in the form of its file: few keys, and occasionally a meaningless one."""
    schema = study_schema()
    scenario = keys_of(dereferenced(schema["$defs"]["scenario"]))
    config = {
        "study": draw(NAMES),
        "ccas": draw(st.one_of(st.just(["reno", "cubic"]), values(schema["properties"]["ccas"]))),
        "scenarios": [
            {"id": draw(NAMES)} | _few(draw, scenario, ("id",)) for _ in range(draw(st.integers(1, 3)))
        ],
    }  # fmt: skip
    config |= _few(draw, keys_of(schema), ("study", "ccas", "scenarios"))
    if mistakes and draw(st.integers(0, 3)) == 0:
        place = draw(st.sampled_from([config, config["scenarios"][0], config.get("defaults") or config]))
        keys = [*place, "flows", "link", "title", "x"]
        place[draw(st.sampled_from(keys))] = draw(ODD)
    return config


def _few(draw, children, without):
    """Draw some keys of a section, and some keys of its subsections."""
    names = draw(st.lists(st.sampled_from([key for key in children if key not in without]), max_size=2, unique=True))
    section = {}
    for name in names:
        inner = keys_of(children[name])
        section[name] = (
            _few(draw, inner, ()) if inner and "default" not in children[name] else draw(values(children[name]))
        )
    return section
