"""Generate the keys of a study's `queue` section from the declarations of the queueing disciplines."""

from experiment.disciplines import DISCIPLINES
from experiment.qdisc import DROP_TAIL
from wording.discipline_words import DISCIPLINE_WORDS, PARAMETER_WORDS


def queue_keys() -> dict[str, dict]:
    """Return the JSON Schema of each key of a queue, by name, except for the keys that set its size (`MEASURES`).

    The description of a parameter lists its default for each discipline.
    """
    nodes = {
        "discipline": {
            "description": " ".join(
                f"`{name}`: {words[0].lower()}{words[1:]}" for name, words in DISCIPLINE_WORDS.items()
            ),
            "enum": list(DISCIPLINES),
            "default": DROP_TAIL,
        }
    }
    having = {}
    for discipline in DISCIPLINES.values():
        for parameter in discipline.parameters:
            having.setdefault(parameter.name, []).append((discipline, parameter))
    for name, owners in having.items():
        (_, first), *_ = owners
        of_all = {"minimum": min, "maximum": max}
        node = first.schema()
        for _, parameter in owners[1:]:
            other = parameter.schema()
            node |= {key: pick(node[key], other[key]) for key, pick in of_all.items() if key in node}
            if "number" in other.get("type", ()):
                node["type"] = other["type"]
        defaults = ", ".join(f"{one.name} {_default_words(parameter.default)}" for one, parameter in owners)
        node = {key: value for key, value in node.items() if (key, value) != ("unit", "")} | {
            "default_from": "discipline"
        }
        nodes[name] = node | {"description": f"{PARAMETER_WORDS[name]} By default: {defaults}."}
    return nodes


def _default_words(value):
    """Return a default value in YAML notation."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
