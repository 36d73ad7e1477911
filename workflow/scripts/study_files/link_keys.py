"""Generate the keys of a study's `link` section from the declarations of the link options."""

from experiment.link_options import LINK_OPTIONS
from experiment.timeline import DIRECTIONS
from wording.link_option_words import OPTION_WORDS


def with_options(keys) -> dict[str, dict]:
    """Return the JSON Schema properties of a link (``keys``) with the link options inserted at their declared positions."""
    nodes = list(keys.items())
    for option in LINK_OPTIONS:
        names = [name for name, _ in nodes]
        place = names.index(option.behind) + 1 if option.behind else len(nodes)
        nodes.insert(place, (option.name, _node(option)))
    return dict(nodes)


def _node(option):
    """Return an option's JSON Schema."""
    value = _described(option.name, option.value)
    if option.by_direction:
        ways = {"type": "object", "additionalProperties": False, "required": list(DIRECTIONS)}
        ways["properties"] = dict.fromkeys(DIRECTIONS, value)
        # The value for a direction may itself be a mapping.
        named = {"anyOf": [{"required": [direction]} for direction in DIRECTIONS]} if "properties" in value else {}
        value = {"if": {"type": "object", **named}, "then": ways, "else": value}
    needs = ", ".join(f"`{key}: {_written(allowed)}`" for key, allowed in option.all_needs.items())
    description = f"{OPTION_WORDS[option.name]} {f'Only with {needs}. ' if needs else ''}Linux only."
    return {"description": description, **value, "default": option.default}


def _described(name, node):
    """Return an option's JSON Schema; if the value is a mapping, each key gets a description."""
    if "properties" not in node:
        return node
    keys = {key: {"description": OPTION_WORDS[f"{name}.{key}"], **child} for key, child in node["properties"].items()}
    return node | {"properties": keys}


def _written(values):
    """Return a text that lists allowed values in YAML notation."""
    return " or ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
