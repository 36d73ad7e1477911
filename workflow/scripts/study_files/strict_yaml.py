"""Read Sawtooth's YAML files strictly, and describe each error in one sentence."""

import re

import yaml

from study_files.study_validation import MOST_PROBLEMS, value_text
from testbed.machine.given_file import given_text
from wording.terminal_text import shown

#: Maximum size of a file in bytes, enough for a thousand scenarios or claims.
LARGEST_BYTES = 2**20
#: Maximum number of values in a file with aliases expanded, and maximum nesting depth of mappings and lists.
LARGEST_VALUES, DEEPEST = 200_000, 30
#: Maximum length of a whole number in bits, far more than any key allows.
LONGEST_NUMBER_BITS = 1024
#: Notations of numbers that YAML 1.1 doesn't read as decimal although they look like it: pattern -> (base, what to leave out).
NOT_DECIMAL = {r"[-+]?0[0-7_]+": ("octal", "leading 0"), r"[^:]+(:[^:]+)+": ("base 60", "colon")}
#: Number of problems that a message lists, and maximum length of each in characters.
NAMED, SENTENCE_LENGTH = 5, 1000


class FileError(Exception):
    """A file can't be used as written.

    The attribute ``problems`` contains one sentence per problem, which names the key, its value and the allowed values. The exception's
    text lists the first problems and states how many more there are.
    """

    def __init__(self, source, problems):
        self.problems = [shown(f"{source}: {problem}", SENTENCE_LENGTH) for problem in problems]
        more = len(self.problems) - NAMED
        least = "at least " if len(self.problems) > MOST_PROBLEMS else ""
        lines = self.problems if more < 2 else [*self.problems[:NAMED], f"{source}: and {least}{more} more problems."]
        super().__init__("\n".join(lines))


def read_mapping(path, noun, keys, error_class) -> dict:
    """Read a YAML file that contains a mapping.

    Parameters
    ----------
    path : str or pathlib.Path
        Path of the file.
    noun : str
        Expected kind of file, for error messages, such as "a study".
    keys : iterable of str
        Allowed keys of the mapping, for error messages; they aren't checked.
    error_class : type
        Subclass of `FileError` that is raised if the file can't be read, isn't a YAML mapping, contains a duplicate key, or exceeds the
        limits on size and nesting.
    """
    try:
        text = given_text(path, LARGEST_BYTES)
        _check_size(text)
        content = yaml.load(text, Loader=_StrictLoader)
    except OSError as error:
        raise error_class(path, [f"can't be read ({error.strerror}); {noun} is a YAML file."]) from error
    except yaml.YAMLError as error:
        raise error_class(path, [_syntax_problem(error)]) from error
    if content is None:
        raise error_class(path, [f"is empty; {noun} has the keys {', '.join(keys)}."])
    if not isinstance(content, dict):
        raise error_class(path, [no_mapping_problem(content, keys)])
    return content


def no_mapping_problem(content, keys) -> str:
    """Return an error message for a value that should be a mapping with the given keys."""
    return f"is {value_text(content)}; allowed: a mapping with the keys {', '.join(keys)}."


def _check_size(text):
    """Raise a ConstructorError if a text contains too many values (with aliases expanded) or is nested too deeply.

    PyYAML limits neither. Only the parser's events are examined, so no value is created before the check.
    """
    sizes, anchors, opened = {}, [], [0]  # number of values by anchor; for open collections, anchors and value counts
    for event in yaml.parse(text, Loader=_StrictLoader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in anchors:
                raise _constructor_error(f"the alias '*{event.anchor}' is inside the value that it stands for", event)
            opened[-1] += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            opened[-1] += 1
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            anchors.append(event.anchor)
            opened.append(1)
            if len(opened) > DEEPEST + 1:
                raise _constructor_error(f"lists and mappings are nested more than {DEEPEST} deep", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            sizes[anchors.pop()] = size = opened.pop()
            opened[-1] += size
        if opened[-1] > LARGEST_VALUES:
            raise _constructor_error(f"it has more than {LARGEST_VALUES:,} values with aliases expanded", event)


def _constructor_error(problem, place):
    return yaml.constructor.ConstructorError(None, None, problem, place.start_mark)


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A YAML loader that raises an error for a duplicate key, and for a number that only looks decimal."""

    def construct_mapping(self, node, deep=False) -> dict:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        keys = [key for key, _ in pairs if isinstance(key, yaml.ScalarNode)]
        seen = set()
        for key in keys:
            if key.value in seen:
                raise _constructor_error(f"the key '{key.value}' occurs twice", key)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node, deep=False) -> object:
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER_BITS:
                raise ValueError  # Python itself limits only the number of decimal digits
            if isinstance(value, int | float) and isinstance(node, yaml.ScalarNode):
                _check_decimal(value, node)
            return value
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            # PyYAML doesn't convert the exceptions caused by impossible dates, overlong numbers and words after `!!bool`.
            value = shown(getattr(node, "value", ""), 60)
            raise _constructor_error(f"'{value}' is not a valid {node.tag.rpartition(':')[2]}", node) from error


def _check_decimal(value, node):
    """Raise a ConstructorError if a number's text is in one of the notations of `NOT_DECIMAL`."""
    for pattern, (base, sign) in NOT_DECIMAL.items():
        if re.fullmatch(pattern, node.value):
            raise _constructor_error(
                f"'{shown(node.value, 60)}' would be read as {value} ({base}); allowed: a decimal number without a {sign}, or a text in quotes",
                node,
            )


def _syntax_problem(error):
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}" if mark else ""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return f"is not valid YAML{where}: {reason}."
