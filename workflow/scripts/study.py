"""A study: reading it, completing it, and deriving its runs and their seeds.

The way from a study file to a run::

    config = load("config/config.yaml", {"replications": 1})
    study = resolve(config, "config/config.yaml")
    for scenario, cca, ip_version, replication in runs(study):
        specification = run_specification(study, scenario, cca, ip_version, replication)

`resolve` is where a study is validated, so nothing later has to ask whether a
key is there or what it means when it isn't.
"""
import copy
from pathlib import Path

import yaml

from study_consistency import contradictions
from study_runs import cells, run_seed, run_specification, runs  # noqa: F401, one module for the Snakefile
from study_schema import has_directions, is_section, keys_of, scenario_schema, study_schema
from study_validation import problems_of_form, value_text

class StudyError(Exception):
    """A study that can't be run as it is written.

    Parameters
    ----------
    source : str
        The study's file.
    problems : list of str
        One sentence each, naming key, value and what is allowed.
    """

    def __init__(self, source, problems):
        self.problems = [f"{source}: {problem}" for problem in problems]
        super().__init__("\n".join(self.problems))


def load(path, overrides=None):
    """Read a study file.

    Parameters
    ----------
    path : str or pathlib.Path
        A YAML file.
    overrides : dict, optional
        Values that win over the file's, in the same shape (Snakemake's
        `--config`). Sections are merged key by key, values replaced.

    Returns
    -------
    dict
        The study as written, neither validated nor completed.

    Raises
    ------
    StudyError
        If the file can't be read, is no YAML mapping, or has a key twice.
    """
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_StrictLoader)
    except OSError as error:
        raise StudyError(path, [f"can't be read ({error.strerror}); a study is a YAML file."]) from error
    except UnicodeDecodeError as error:
        raise StudyError(path, ["is not UTF-8 text; a study is a YAML file."]) from error
    except yaml.YAMLError as error:
        raise StudyError(path, [_syntax_problem(error)]) from error
    except ValueError as error:  # PyYAML lets those of impossible dates and endless numbers through
        raise StudyError(path, [f"has a value that YAML can't read ({error})."]) from error
    if content is None:
        raise StudyError(path, [f"is empty; a study has the keys {', '.join(keys_of(study_schema()))}."])
    if not isinstance(content, dict):
        raise StudyError(path, [_no_mapping_problem(content)])
    return _merge(study_schema(), content, overrides or {})


def resolve(config, source):
    """Validate a study and complete it.

    Parameters
    ----------
    config : dict
        A study as written. It is left as it is.
    source : str
        Its file, for error messages.

    Returns
    -------
    dict
        The study without `defaults`, which every scenario then contains. All
        keys of the schema are there, in the schema's order; values for each
        direction are `{forward, reverse}`; whole numbers are int.

    Raises
    ------
    StudyError
        With one sentence for each problem.
    """
    if not isinstance(config, dict):
        raise StudyError(source, [_no_mapping_problem(config)])
    problems = problems_of_form(config)
    if problems:
        raise StudyError(source, problems)
    study = _complete(study_schema(), config)
    shared = study.pop("defaults")
    node = scenario_schema()
    study["scenarios"] = [_complete(node, _merge(node, shared, scenario)) for scenario in config["scenarios"]]
    problems = contradictions(study)
    if problems:
        raise StudyError(source, problems)
    return study


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as it is meant: a key that stands twice is a mistake, not the last one's victory."""

    def construct_mapping(self, node, deep=False):
        keys = set()
        for key_node, _ in getattr(node, "value", ()):
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key_node.value}' stands twice", key_node.start_mark
                )
            keys.add(key_node.value)
        return super().construct_mapping(node, deep)


def _syntax_problem(error):
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}" if mark else ""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return f"is no valid YAML{where}: {reason}."


def _no_mapping_problem(content):
    keys = ", ".join(keys_of(study_schema()))
    return f"is {value_text(content)}; allowed is a mapping with the keys {keys}."


def _merge(node, base, override):
    """Merge two mappings of the same schema node: sections by key, values as a whole."""
    children, merged = keys_of(node), dict(base)
    for key, value in override.items():
        if is_section(children.get(key, {})) and isinstance(value, dict) and isinstance(base.get(key), dict):
            merged[key] = _merge(children[key], base[key], value)
        else:
            merged[key] = value
    return merged


def _complete(node, given):
    """Fill in what is not given, in the order of the schema."""
    complete = {}
    for key, child in keys_of(node).items():
        if is_section(child):
            # The shared part of a study stays as written: a default here would
            # look like a choice there.
            complete[key] = given.get(key, {}) if key == "defaults" else _complete(child, given.get(key, {}))
        elif key in given:
            complete[key] = _normal(child, given[key])
        elif "default_from" in child:
            complete[key] = complete[child["default_from"]]
        else:
            complete[key] = _normal(child, child["default"])
    return complete


def _normal(node, value):
    """Return one form for all ways to write a value: 10 for 10.0, both directions for one number."""
    if has_directions(node):
        if not isinstance(value, dict):
            value = {"forward": value, "reverse": value}
        return {direction: _normal({}, value[direction]) for direction in ("forward", "reverse")}
    if isinstance(value, dict):
        return {key: _normal({}, item) for key, item in value.items()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return copy.deepcopy(value)
