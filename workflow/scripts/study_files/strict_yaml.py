"""Reading a YAML file of ours strictly, and saying in one sentence what is wrong with it."""

from pathlib import Path

import yaml

from study_files.study_validation import value_text


class FileError(Exception):
    """A file that can't be used as it is written: ``problems`` are sentences that name key, value and what is allowed."""

    def __init__(self, source, problems):
        self.problems = [f"{source}: {problem}" for problem in problems]
        super().__init__("\n".join(self.problems))


def read_mapping(path, noun, keys, error_class) -> dict:
    """Read a YAML file that is a mapping.

    Parameters
    ----------
    path : str or pathlib.Path
    noun : str
        What the file should be, such as "a study".
    keys : iterable of str
        Keys that the mapping may have, for messages.
    error_class : type
        Raised, with one sentence, if the file can't be read, is no YAML mapping, or has a key twice.
    """
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_StrictLoader)
    except OSError as error:
        raise error_class(path, [f"can't be read ({error.strerror}); {noun} is a YAML file."]) from error
    except UnicodeDecodeError as error:
        raise error_class(path, [f"is not UTF-8 text; {noun} is a YAML file."]) from error
    except yaml.YAMLError as error:
        raise error_class(path, [_syntax_problem(error)]) from error
    except ValueError as error:  # PyYAML lets those of impossible dates and endless numbers through
        raise error_class(path, [f"has a value that YAML can't read ({error})."]) from error
    if content is None:
        raise error_class(path, [f"is empty; {noun} has the keys {', '.join(keys)}."])
    if not isinstance(content, dict):
        raise error_class(path, [no_mapping_problem(content, keys)])
    return content


def no_mapping_problem(content, keys) -> str:
    """Say that a value should have been a mapping with these keys."""
    return f"is {value_text(content)}; allowed is a mapping with the keys {', '.join(keys)}."


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as it is meant: a key that stands twice is a mistake, not the last one's victory."""

    def construct_mapping(self, node, deep=False) -> dict:
        keys = [key for key, _ in getattr(node, "value", ()) if isinstance(key, yaml.ScalarNode)]
        for place, key in enumerate(keys):
            if key.value in [earlier.value for earlier in keys[:place]]:
                problem = f"the key '{key.value}' stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        return super().construct_mapping(node, deep)


def _syntax_problem(error):
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}" if mark else ""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return f"is no valid YAML{where}: {reason}."
