"""Validate a study against its schema, and describe problems in sentences.

Each sentence names the key, the value and the allowed values in plain language. Checks that involve several keys, which the schema can't
express, are in `study_consistency`.
"""

import datetime
import difflib
import itertools
import json
import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from study_files import forms_in_order
from study_files.named_programs import names_of
from study_files.study_schema import allowed_text, homes_of_keys, keys_of, study_schema
from study_files.where_else import of_key, of_value
from wording.terminal_text import shown

if TYPE_CHECKING:
    import jsonschema.protocols

# Common spellings of the units in the schema.
UNIT_SPELLINGS = {
    "ms": ("ms",),
    "s": ("s", "sec"),
    "percent": ("%", "percent", "pct"),
    "Mbit/s": ("mbit/s", "mbps", "mbit"),
    "bytes": ("b", "byte", "bytes"),
    "packets": ("p", "packet", "packets"),
    "BDP": ("bdp",),
    "flows": ("flow", "flows"),
}

#: Control characters (C0 except tab and line feed, C1), characters that change the direction of text, line and paragraph
#: separators, surrogates, and non-characters. XML forbids most of them, and terminals interpret many.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


#: Maximum number of entries in a mapping or list, and in a list of numbers (an hour of rates in steps of 100 ms).
MOST_ENTRIES, MOST_NUMBERS = 5_000, 36_000
#: Number of problems after which the search for problems ends.
MOST_PROBLEMS = 2_000


def problems_of_form(config, schema=None) -> list[str]:
    """Compare an unresolved study (or another kind of file) with its schema, and return one sentence per problem.

    The sentences don't contain the file's name. Unknown keys come first, because they explain many other problems. The other problems
    follow in the order of the schema. The search ends after `MOST_PROBLEMS`.
    """
    schema = schema or study_schema()
    homes = homes_of_keys() if schema is study_schema() else {}
    programs = []
    if schema is study_schema() and isinstance(config, dict):
        schema, programs = _with_names(schema, _defined(config)), names_of(config.get("programs"))
    for key, node in keys_of(schema).items():
        # The number of entries is checked before the entries themselves.
        if (
            isinstance(config, dict)
            and isinstance(config.get(key), list)
            and len(config[key]) > node.get("maxItems", math.inf)
        ):
            return [f"{key} has {len(config[key]):,} entries; allowed: up to {node['maxItems']:,}."]
    if problems := _too_long(config) or list(itertools.islice(_unprintable(config), MOST_PROBLEMS + 1)):
        return problems
    # Programs are allowed only in `ccas`, because they can't be the CCAs of sockets.
    schema = _with_names(_with_named_flows(schema), programs)
    form = forms_in_order.key_of(config, schema, __file__)
    if forms_in_order.is_known(form):
        return []
    unknown, others, seen = [], [], set()
    for error in validator_class()(schema).iter_errors(config):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            unknown += _unknown_keys(error, path, config, homes)
        elif error.validator == "required":
            others += missing_keys(error, path, config, seen)
        elif path not in seen:
            others.append(wrong_value(error, path, config))
            seen.add(path)
        if len(unknown) + len(others) > MOST_PROBLEMS:
            break
    if not unknown + others:
        forms_in_order.remember(form)
    return unknown + others


def _defined(config):
    """Return the names of the CCAs that a study defines in `cca_definitions` and in the `ccas` of its kernels."""
    kernels = config.get("kernels")
    of_kernels = (
        [one.get("ccas") for one in kernels.values() if isinstance(one, dict)] if isinstance(kernels, dict) else []
    )
    mappings = [config.get("cca_definitions"), *of_kernels]
    return [name for one in mappings if isinstance(one, dict) for name in one if isinstance(name, str)]


def _with_names(schema, definitions):
    """Return the schema of a study in which `ccas` may also contain the given names."""
    if not definitions:
        return schema
    ccas = schema["properties"]["ccas"]
    items = ccas["items"] | {"joined": [*ccas["items"]["joined"], *definitions]}
    return schema | {"properties": schema["properties"] | {"ccas": ccas | {"items": items}}}


def _with_named_flows(schema):
    """Return the schema of a study in which flow groups and a chain's cross flows may use every CCA that is allowed in `ccas`."""
    joined = schema["properties"].get("ccas", {}).get("items", {}).get("joined", ())
    places = {"flow_group": "cca", "chain": "cross_cca"}
    if not places.keys() <= schema.get("$defs", {}).keys():
        return schema
    more = {}
    for name, key in places.items():
        node = schema["$defs"][name]
        own = node["properties"][key]
        names = [*own["enum"], *(cca for cca in joined if cca not in own["enum"])]
        more[name] = node | {"properties": node["properties"] | {key: own | {"enum": names}}}
    return schema | {"$defs": schema["$defs"] | more}


def _parts(config):
    """Yield the path and value of each node in the content of a file, beginning with the content itself."""
    waiting = [((), config)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, (dict, list)):
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, step), item) for step, item in steps]


def _too_long(config):
    """Return a list with one sentence about the first mapping or list that has too many entries, or an empty list."""
    for path, value in _parts(config):
        if isinstance(value, (dict, list)) and len(value) > MOST_ENTRIES:
            of_numbers = isinstance(value, list) and all(isinstance(item, (int, float)) for item in value)
            if len(value) > (most := MOST_NUMBERS if of_numbers else MOST_ENTRIES):
                where = path_text(path, config) or "the file"
                return [f"{where} has {len(value):,} entries; allowed: up to {most:,}."]
    return []


def _unprintable(config):
    """Yield a sentence about each text with control characters.

    Figures and pages can't contain control characters, and terminals would interpret them.
    """
    for path, value in _parts(config):
        for text in (value, path[-1] if path else ""):
            if isinstance(text, str) and (character := _CONTROL.search(text)):
                name = f"U+{ord(character[0]):04X}"
                yield f"{path_text(path, config)} has the control character {name}; allowed: text without control characters."


def path_text(path, config) -> str:
    """Return a path as text, such as `scenarios[far].link.rate_mbps`; a scenario or claim with a unique id is named by its id."""
    text = ""
    for depth, step in enumerate(path):
        if isinstance(step, int):
            named = path[:depth] in (("scenarios",), ("claims",)) and isinstance(config[path[0]], list)
            text += f"[{_entry_id(config[path[0]], step) if named else step}]"
        else:
            text += f".{shown(step, 60)}" if text else shown(step, 60)
    return text


def value_text(value) -> str:
    """Return a value in YAML notation, shortened to 60 characters."""
    if _is_endless(value):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[str(value)]
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(map(value_text, value)) + "]"
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


@lru_cache(maxsize=1)
def validator_class() -> "type[jsonschema.protocols.Validator]":
    """Return a JSON Schema validator class that doesn't accept NaN and infinity as numbers."""
    # Imported only when needed, because the import takes a twentieth of the time of a dry run.
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # NaN would pass every range check, because all comparisons with NaN are false.
    checker = Draft202012Validator.TYPE_CHECKER
    finite = checker.redefine("number", lambda _, value: checker.is_type(value, "number") and not _is_endless(value))
    return extend(Draft202012Validator, {"joined": _joined_violations}, type_checker=finite)


def _joined_violations(validator, choices, value, schema):
    """Yield a violation of the keyword `joined` unless a text is one of the choices or consists of several choices joined by `+`."""
    if isinstance(value, str) and any(part not in choices for part in value.split("+")):
        from jsonschema import ValidationError

        yield ValidationError(f"{value!r} has parts that are none of {choices}")


def _is_endless(value):
    return isinstance(value, float) and not math.isfinite(value)


def _entry_id(entries, index):
    ids = [entry.get("id") if isinstance(entry, dict) else None for entry in entries]
    name = ids[index]
    return name if isinstance(name, str) and name and ids.count(name) == 1 else index


def _unknown_keys(error, path, config, homes):
    allowed = list(error.schema["properties"])
    sentences = []
    for key in itertools.islice((key for key in error.instance if key not in allowed), MOST_PROBLEMS + 1):
        nearest = nearest_choice(key, allowed)
        hint = f"; did you mean '{nearest}'?" if nearest else "."
        if key in homes:
            hint = f"; it belongs to {homes[key]}."
        where = path_text((*path, str(key)), config)
        sentences.append(f"unknown key '{where}'{hint} Allowed here: {', '.join(allowed)}.{of_key(key)}")
    return sentences


def missing_keys(error, path, config, seen) -> list[str]:
    """Return a sentence about each missing key for a violation of the keyword `required`.

    Keys in ``seen`` (a set of paths) are skipped, and the reported keys are added to this set.
    """
    present, known = error.instance, error.schema["properties"]
    # `_unknown_keys` reports a misspelt key if unknown keys are forbidden.
    forbidden = error.schema.get("additionalProperties") is False
    misspelt = {
        nearest_choice(key, known)
        for key in present
        if forbidden and key not in known and key not in error.schema["required"]
    }
    sentences = []
    keys = keys_of(error.schema)
    # jsonschema reports each missing key separately, but doesn't state which key is missing.
    for key in error.schema["required"]:
        where = (*path, key)
        # A key that is described in another part of the schema is reported with that part.
        if key in present or key in misspelt or where in seen or key not in keys:
            continue
        seen.add(where)
        allowed = allowed_text(keys[key])
        sentences.append(f"{path_text(where, config)} is missing; allowed: {allowed}.")
    return sentences


def wrong_value(error, path, config) -> str:
    """Return a sentence about a value that violates the schema, with its path and the allowed values."""
    where, value = path_text(path, config), error.instance
    if error.validator == "uniqueItems":
        twice = next(item for position, item in enumerate(value) if item in value[:position])
        return f"{where} has {value_text(twice)} twice; allowed: {allowed_text(error.schema)}."
    allowed, hint = "allowed", ""
    if error.validator == "maxLength" and "joined" in error.schema:
        return f"{where} is a mix of {len(value)} characters; allowed: up to {error.schema['maxLength']}."
    if "enum" in error.schema:
        allowed = _choice_hint(value, [choice for choice in error.schema["enum"] if choice is not None])
    elif "joined" in error.schema:
        choices = error.schema["joined"]
        parts = value.split("+") if isinstance(value, str) else [value]
        allowed = _choice_hint(next(part for part in parts if part not in choices), choices)
    elif error.validator == "type":
        hint = _type_hint(value, error.schema)
    return f"{where} is {value_text(value)}; {allowed}: {allowed_text(error.schema)}{hint}.{of_value(path, value)}"


def _choice_hint(value, choices):
    if isinstance(value, bool):
        return "YAML takes a bare yes, no, on or off for true or false; allowed"
    nearest = nearest_choice(value, choices)
    return f"did you mean '{nearest}'? Allowed" if nearest else "allowed"


def _type_hint(value, node):
    """Return a hint on how to write a value whose type is wrong because of YAML syntax or a unit, or "" if no hint applies."""
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    if kinds[0] == "string" and isinstance(value, (bool, int, float, datetime.date)):
        return ", in quotes"
    # Only short texts are tried, because numbers with units are short, and the time for this pattern is cubic in the length of the text.
    if kinds[0] not in ("number", "integer") or not isinstance(value, str) or len(value) > 64:
        return ""
    match = re.fullmatch(r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*", value)
    if match is None:
        return ""
    number, unit = match.groups()
    if not unit:
        # YAML 1.1 reads 1.0e+3 as a number, but 1e3 as text.
        return f", without quotes or exponent: {float(number):.12g}"
    if unit.lower() in UNIT_SPELLINGS.get(node.get("unit"), ()):
        return f", without its unit: {number}"
    return ", without a unit"


def exact(number) -> Fraction:
    """Return a number of a file exactly as it is written: 0.35 is 7/20."""
    return Fraction(str(number))


def nearest_choice(word, choices) -> str | None:
    """Return the choice that was most likely intended, or None."""
    if len(word := str(word).lower()) > 64:
        return None
    for choice in choices:
        # `cca` means ccas, `delay` means delay_ms, and `6` means ipv6, but `s` doesn't suggest flows.
        if choice == f"{word}s" or choice.startswith(f"{word}_") or (word.isdigit() and choice.endswith(word)):
            return choice
    matches = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return matches[0] if matches else None
