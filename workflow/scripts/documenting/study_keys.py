"""Tables for the documentation that describe the keys of a study file, generated from the schema."""

from collections.abc import Iterator
from dataclasses import dataclass

from study_files.study_schema import (
    allowed_text,
    dereferenced,
    has_directions,
    is_section,
    keys_of,
    scenario_schema,
    study_schema,
)
from study_files.study_validation import value_text

#: Type in the schema -> its name in the tables, if different.
KINDS = {"integer": "whole number", "array": "list", "object": "mapping", "string": "text", "boolean": "switch"}


@dataclass(frozen=True)
class Key:
    """A key of a study file: its name, type with unit, allowed values, default and meaning."""

    name: str
    type: str
    allowed: str
    default: str
    meaning: str


def sections() -> Iterator[tuple[str, str, list[Key]]]:
    """Yield the tables of all keys in the schema's order: title, introduction, and one row per key."""
    yield _section("The study", study_schema())
    rule = keys_of(study_schema())["replications"]["then"]
    yield _section("`replications` of the study, given as a rule", rule, rule["description"])
    until = keys_of(rule)["until"]
    yield _section("`replications.until`", until, until["description"])
    definition = dereferenced(keys_of(study_schema())["cca_definitions"]["additionalProperties"])
    text = "Set either `base` or `source`. If `source` is set, `sha256` and `cca` are derived from the file."
    yield _section("A CCA of `cca_definitions`", definition, text)
    program = dereferenced(keys_of(study_schema())["programs"]["additionalProperties"])
    text = "`server` and `client` must be given. [Programs as flows](../docs/programs.md) has an example and the placeholders."
    yield _section("A program of `programs`", program, text)
    kernel = dereferenced(keys_of(study_schema())["kernels"]["additionalProperties"])
    text = "Set either `base` or `tree`; `version`, `sha256` and `recipe` are derived from it. The published study also has the `sha256` of each patch."
    yield _section("A kernel of `kernels`", kernel, text)
    for part in ("exam", "steady_state", "analysis"):
        of_study = keys_of(study_schema())[part]
        yield _section(f"`{part}` of the study", of_study, of_study["description"])
        for name, node in keys_of(of_study).items():
            if node.get("properties"):
                yield _section(f"`{part}.{name}`", node, node["description"])
    scenario = scenario_schema()
    text = "`id` and `label` belong to a scenario; all others may also be set in `defaults`."
    yield _section("A scenario", scenario, text)
    for name, node in keys_of(scenario).items():
        if node.get("properties"):
            yield _section(f"`{name}` of a scenario", node, node["description"])
        for key, child in keys_of(node).items():
            entry = dereferenced(child.get("items", {}))
            if entry.get("properties"):
                yield _section(f"An entry of `{name}.{key}`", entry, entry["description"])
            if child.get("properties") and "null" in child["type"]:
                yield _section(f"`{name}.{key}`", child, child["description"])
        if name == "flows":
            group = dereferenced(node["then"]["items"])
            yield _section("A group of `flows`", group, group["description"])


def _section(title, node, text=""):
    rows = [
        Key(
            name,
            _type_text(key),
            _range_text(key),
            _default_text(key, name in node.get("required", ())),
            key["description"],
        )
        for name, key in keys_of(node).items()
    ]
    return title, text, rows


def _type_text(node):
    value = dereferenced(node.get("else", node))
    if "enum" in value:
        return "name"
    kind = value["type"] if isinstance(value["type"], str) else value["type"][0]
    kind = KINDS.get(kind, kind)
    return f"{kind}, {value['unit']}" if "unit" in value else kind


def _range_text(node):
    if node.get("then", {}).get("type") == "array":
        return allowed_text(node)
    if "else" in node:
        value = dereferenced(node["else"])
        return (_limits_text(value) if "unit" in value else _range_text(value)) + (
            ", or one such value for each direction" if has_directions(node) else ", or a rule"
        )
    if "enum" in node:
        return ", ".join(f"`{'null' if choice is None else choice}`" for choice in node["enum"])
    if is_section(node):
        return ", ".join(f"`{key}`" for key in keys_of(node))
    if node["type"] == "array":
        items = dereferenced(node["items"])
        return _range_text(items) if "enum" in items else node.get("allowed", "at least one")
    if "maximum" in node or "exclusiveMaximum" in node:
        return _limits_text(node)
    return allowed_text(node)


def _limits_text(node):
    low = f"above {node['exclusiveMinimum']}" if "exclusiveMinimum" in node else f"{node['minimum']:,}"
    high = f"below {node['exclusiveMaximum']}" if "exclusiveMaximum" in node else f"{node['maximum']:,}"
    return f"from {low} to {high}" + (", or `null`" if "null" in node["type"] else "")


def _default_text(node, is_required):
    if "default_from" in node:
        return f"the `{node['default_from']}`"
    if "default" in node:
        return f"`{value_text(node['default'])}`".replace('"', "") if node["default"] != "" else "none"
    if is_required:
        return "must be given"
    return "key by key" if is_section(node) else "not set"
