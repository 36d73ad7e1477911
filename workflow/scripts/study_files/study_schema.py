"""Read the schema of study files, and describe allowed values in words.

The defaults, ranges, units and descriptions of parameters are defined only in `workflow/schemas/study.schema.yaml`. The exceptions are
parameters of queueing disciplines (`study_files.queue_keys`), link options (`study_files.link_keys`) and host options
(`study_files.host_keys`). Code that validates, completes or documents a study gets the schema from this module.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path

import yaml

from study_files.host_keys import host_keys
from study_files.link_keys import with_options
from study_files.queue_keys import queue_keys

SCHEMA_PATH = Path(__file__).resolve().parents[2] / "schemas" / "study.schema.yaml"

#: Keys of a scenario that aren't allowed in `defaults`, because scenarios can't share their values.
OF_ONE_SCENARIO = ("id", "label", "replications", "seeds_of")
#: Maximum number of nodes whose keys are cached, ten times the number of nodes in the schema.
MOST_NODES = 5_000


@lru_cache(maxsize=1)
def study_schema() -> dict:
    """Return the schema of a study, a shared dict that must not be modified."""
    # The C parser is ten times faster, and is part of PyYAML's wheels.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schema = yaml.load(SCHEMA_PATH.read_text(encoding="utf-8"), Loader=loader)
    # Queue keys, link options and host options are declared in `workflow/experiment/`.
    queue = schema["$defs"]["queue"]
    queue["properties"] |= queue_keys()
    schema["$defs"]["reverse_queue"] = queue | schema["$defs"]["reverse_queue"]
    schema["$defs"]["transport"]["properties"] |= host_keys()
    link = schema["$defs"]["link"]
    link["properties"] = with_options(link["properties"])
    of_scenario = schema["$defs"]["scenario"]["properties"]
    schema["properties"]["defaults"]["properties"] = {
        k: of_scenario[k] for k in of_scenario if k not in OF_ONE_SCENARIO
    }
    return schema


def remembered(function: Callable) -> Callable:
    """Cache the results of a function that takes a schema node; results are shared and must not be modified.

    To complete a study, the keys of the same few hundred nodes are needed thousands of times. Nodes aren't hashable, so the cache key is
    `id(node)`. Each entry keeps a reference to its node, so that no other node can have the same id.
    """
    known = {}

    @wraps(function)
    def of_node(node):
        found = known.get(id(node))
        if found is None:
            if len(known) >= MOST_NODES:
                known.clear()
            found = known[id(node)] = (node, function(node))
        return found[1]

    return of_node


def dereferenced(node) -> dict:
    """Return a schema node with `$ref` replaced by the node to which it refers.

    Keywords next to `$ref`, such as a description, override the keywords of the referenced node.
    """
    return _referred(node) if "$ref" in node else node


@remembered
def _referred(node):
    name = node["$ref"].removeprefix("#/$defs/")
    target = dereferenced(study_schema()["$defs"][name])
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def keys_of(node) -> dict[str, dict]:
    """Return the dereferenced schema of each key of an object, in order, as a shared dict that must not be modified."""
    return _keys(node) if "properties" in node or "$ref" in node else {}


@remembered
def _keys(node):
    properties = dereferenced(node).get("properties", {})
    return {name: dereferenced(child) for name, child in properties.items()}


def is_section(node) -> bool:
    """Return whether a schema node is a section; sections are merged key by key, whereas other values are replaced."""
    return node.get("type") == "object" and "default" not in node


def has_directions(node) -> bool:
    """Return whether a schema node allows separate values for the directions (`forward` and `reverse`)."""
    return "then" in node and "forward" in keys_of(node["then"])


def scenario_schema() -> dict:
    """Return the schema of a scenario."""
    return dereferenced(study_schema()["$defs"]["scenario"])


@lru_cache(maxsize=1)
def homes_of_keys() -> dict[str, str]:
    """Return where each key belongs, such as "a scenario" or "'link'", for messages about misplaced keys."""
    homes = {}
    for section, node in keys_of(scenario_schema()).items():
        homes.setdefault(section, "a scenario")
        for key in keys_of(node):
            homes.setdefault(key, f"'{section}'")
    for key in keys_of(study_schema()):
        homes.setdefault(key, "the study")
    return homes


def allowed_text(node) -> str:
    """Return a description of the values that a schema node allows, such as `a number from 0 to below 100 (percent)`."""
    node = dereferenced(node)
    if "allowed" in node:
        return node["allowed"]
    if "joined" in node:
        # A mix can't contain the CCAs of programs, whose names contain a colon.
        several = "several of the kernel's" if any(":" in name for name in node["joined"]) else "several"
        return f"one of {', '.join(node['joined'])}, or {several} joined by +"
    if "enum" in node:
        choices = ["null" if choice is None else choice for choice in node["enum"]]
        return ("one of " if len(choices) > 1 else "") + ", ".join(choices)
    if has_directions(node):
        return f"{allowed_text(node['else'])}, or one for each direction, such as {{forward: 1, reverse: 0}}"
    if "else" in node:
        return allowed_text(node["else"])
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if kinds[0] in ("number", "integer"):
        return _number_text(node, kinds)
    if kinds[0] == "array":
        return _list_text(node)
    if kinds[0] == "object":
        return "a mapping with the keys " + ", ".join(node["properties"]) if "properties" in node else "a mapping"
    return {"boolean": "true or false", "string": "text"}[kinds[0]]


def _number_text(node, kinds):
    text = "a whole number" if kinds[0] == "integer" else "a number"
    if "exclusiveMinimum" in node:
        text += f" above {node['exclusiveMinimum']} and " + ("" if "exclusiveMaximum" in node else "up to ")
    else:
        text += f" from {node['minimum']} to "
    text += f"below {node['exclusiveMaximum']}" if "exclusiveMaximum" in node else f"{node['maximum']}"
    if "unit" in node:
        text += f" ({node['unit']})"
    return text + (", or null" if "null" in kinds else "")


def _list_text(node):
    items = dereferenced(node["items"])
    if "enum" in items or "joined" in items:
        mixes = " (or mixes, several joined by +)" if "joined" in items else ""
        return f"a list of at least one of {', '.join(items.get('enum') or items['joined'])}{mixes}, each once"
    return "a list of at least one mapping"
