"""Labels of a study's scenarios: a unique text for each scenario, with all conditions that distinguish the scenarios.

A text consists of parts. Rate, RTT, loss and flows are always present. Any other key of a resolved scenario is included if its value
differs between scenarios. If more than half of the scenarios have the same value of a key without special wording, the key is omitted for
these scenarios. If a part has the same text for different values, these values are appended, so that every differing key is visible. To
find scenarios that belong together, use `settings_of`, not these texts.
"""

from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from wording.scenario_keys import POLICERS_OF_LINK, Differences, is_in, keys_of, text_of
from wording.scenario_parts import PARTS

#: Sections of a scenario whose keys are shown only if the other parts of the label don't distinguish the scenarios.
STRUCTURE = ("groups", "flows", "hosts", "multipath", "chain")
#: Prefix of keys -> the columns of `tidy_tables.SCENARIOS` that show these keys; any other key is shown in the column of the same name.
COLUMNS = {
    **dict.fromkeys(("link.timeline", "link.trace", "link.reverse_trace", *POLICERS_OF_LINK), ("link_options",)),
    **{f"link.{option.name}": ("link_options",) for option in LINK_OPTIONS},
    **{f"transport.{option.name}": ("host_options",) for option in HOST_OPTIONS},
    "queue": ("queue", "discipline", "queue_parameters"), "reverse_queue": ("reverse_queue",), "traffic.block_bytes": ("message_bytes",),
    "hosts.qdisc": ("host_options",), "hosts.access_delay_ms": ("pairs", "access_delay_ms"), "multipath.by": ("multipath",), "variation": ("variation",),
    "kernel": ("kernel",), "groups": ("groups",), "multipath.outage": ("outage_path", "outage_at_s", "outage_for_s"),
    "chain": ("bottlenecks", "rate_mbps", "chain_rtts_ms", "queue"),
}  # fmt: skip


def conditions_of(scenarios, without=()) -> list[str]:
    """Return the conditions of resolved scenarios: one text per scenario, whose parts are separated by ", ".

    Parameters
    ----------
    scenarios : list of dict
        Resolved scenarios.
    without : sequence of str
        Prefixes of keys to ignore, such as "queue". Scenarios that differ only in such keys get the same text; all other scenarios get
        different texts.
    """
    differences, columns, shown = Differences(scenarios, without), [], set()
    keys = [text_of(keys_of(scenario, without)) for scenario in scenarios]
    for part in PARTS:
        differing = [key for key in differences.among(part.keys) if key not in shown]
        if differing or part.always:
            texts = [part.words(scenario) for scenario in scenarios]
            # A part that shows ignored keys is left out.
            if len(set(zip(keys, texts, strict=True))) == len(set(keys)):
                columns.append(texts)
                shown |= {key for key in differing if differences.are_distinguished_by(texts, [key])}
    structure = differences.among(STRUCTURE)
    others = [key for key in differences.values if key not in shown and key not in structure]
    columns += [differences.unusual_words(key) for key in others]
    columns += [differences.words([key]) for key in differences.apart(structure, _joined(columns))]
    texts = _joined(columns)
    # Texts of scenarios that differ only in their names, or whose different values result in the same text.
    first = dict(zip(reversed(texts), reversed(keys), strict=True))
    unclear = {
        text
        for text, key in zip(texts, keys, strict=True)
        if first[text] != key or (not without and keys.count(key) > 1)
    }
    return [f"{text}, {one['id']}" if text in unclear else text for text, one in zip(texts, scenarios, strict=True)]


def _joined(columns):
    """Join the parts of each scenario into one text."""
    rows = zip(*columns, strict=True)
    return [", ".join(part.replace(", ", " + ") for part in parts if part) for parts in rows]


def settings_of(scenarios, without) -> dict[str, dict]:
    """Return ``setting`` and ``conditions`` for each scenario, by the scenario's name.

    ``setting`` is a number. It is the same for scenarios that differ only in keys with a prefix in ``without``, but not for scenarios that
    differ only in their names. ``conditions`` describes the setting in words.
    """
    keys = [text_of(keys_of(scenario, without)) for scenario in scenarios]
    return _settings(scenarios, keys, conditions_of(scenarios, without))


def settings_by(scenarios, common) -> dict[str, dict]:
    """Return the same as `settings_of`, but for scenarios grouped by the values that the function ``common`` returns.

    ``conditions`` consists of the parts that all scenarios in a group share.
    """
    keys, texts = [text_of(common(scenario)) for scenario in scenarios], conditions_of(scenarios)
    parts = {key: [text.split(", ") for text, own in zip(texts, keys, strict=True) if own == key] for key in keys}
    words = {
        key: ", ".join(part for part in of_key[0] if all(part in other for other in of_key))
        for key, of_key in parts.items()
    }
    return _settings(scenarios, keys, [words[key] for key in keys])


def _settings(scenarios, keys, texts):
    numbers, seen, settings = {}, {}, {}
    for scenario, key, words in zip(scenarios, keys, texts, strict=True):
        whole = text_of(keys_of(scenario))
        seen[whole] = seen.get(whole, 0) + 1
        number = numbers.setdefault((key, seen[whole]), len(numbers) + 1)
        settings[scenario["id"]] = {"setting": number, "conditions": words}
    said = {}
    for one in settings.values():
        said.setdefault(one["conditions"], set()).add(one["setting"])
    return {
        name: one | {"conditions": f"{one['conditions']} (setting {one['setting']})"}
        if len(said[one["conditions"]]) > 1
        else one
        for name, one in settings.items()
    }


def hidden_conditions(scenarios, rows) -> list[str]:
    """Return, for each scenario, words for the differing keys that its row of `SCENARIOS` doesn't show, or ""."""
    differences = Differences(scenarios)
    hidden = []
    for key in differences.values:
        shown = [text_of([row.get(name) for name in _columns_of(key)]) for row in rows]
        if not differences.are_distinguished_by(shown, [key]):
            hidden.append(key)
    return differences.words(hidden)


def _columns_of(key):
    """Return the columns that can show a key."""
    *path, name = key.split(".")
    if name in ("forward", "reverse"):
        stem, _, unit = path[-1].rpartition("_")
        return [f"{stem}_{name}_{unit}"]
    return [name, *(column for begin, columns in COLUMNS.items() if is_in(key, begin) for column in columns)]
