"""Keys for the options of a study's `link`, generated from the options' declarations."""

from experiment.link_options import LINK_OPTIONS
from experiment.timeline import DIRECTIONS
from wording.link_option_words import OPTION_WORDS


def with_options(keys) -> dict[str, dict]:
    """Return the JSON Schemas of a link's keys and options by name, in order, with each option after the key that it should follow."""
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
        # A value may be a mapping itself.
        named = {"anyOf": [{"required": [direction]} for direction in DIRECTIONS]} if "properties" in value else {}
        value = {"if": {"type": "object", **named}, "then": ways, "else": value}
    needs = ", ".join(f"`{key}: {_written(allowed)}`" for key, allowed in option.all_needs.items())
    description = f"{OPTION_WORDS[option.name]} {f'With {needs}. ' if needs else ''}Linux only."
    return {"description": description, **value, "default": option.default}


def _described(name, node):
    """Return the schema of a value, with a description for every key if the value is a mapping."""
    if "properties" not in node:
        return node
    keys = {key: {"description": OPTION_WORDS[f"{name}.{key}"], **child} for key, child in node["properties"].items()}
    return node | {"properties": keys}


def _written(values):
    """Return the text of the allowed values as written in a study."""
    return " or ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
