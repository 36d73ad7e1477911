"""Read and complete study files, and derive runs and seeds from them.

From a study file to a run::

    config = load("config/config.yaml", {"replications": 1})
    study = resolve(config, "config/config.yaml")
    for scenario, cca, ip_version, replication in runs(study):
        specification = run_specification(study, scenario, cca, ip_version, replication)

`resolve` validates and completes a study, so that later code doesn't have to check for missing keys.
"""

import copy

import yaml

from experiment.disciplines import QUEUES, completed
from experiment.timeline import DIRECTIONS, TRACES
from study_files.cca_definitions import completed as completed_definitions
from study_files.delay_tables import completed_table
from study_files.direction_forms import direction_problems, with_directions
from study_files.kernels import with_kernels
from study_files.programs import with_programs
from study_files.strict_yaml import FileError, no_mapping_problem, read_mapping
from study_files.study_chains import queues_of_chain, with_bottlenecks, without_unused
from study_files.study_consistency import contradictions
from study_files.study_groups import counted_flows
from study_files.study_link_options import with_share_of_model
from study_files.study_queues import queue_problems
from study_files.study_replications import goes_on, has_looks, looks, most_replications, wanted_replications  # noqa: F401, one module for the Snakefile
from study_files.study_runs import (  # noqa: F401, likewise
    all_runs,
    ccas_written_out,
    cells,
    count_runs,
    definitions_in,
    job_runs,
    largest_conditions,
    last_replication,
    run_conditions,
    run_seed,
    run_specification,
    runs,
    seed_of_run,
)
from study_files.study_schema import dereferenced, has_directions, is_section, keys_of, scenario_schema, study_schema
from study_files.study_traces import TraceError, completed_trace
from study_files.study_validation import problems_of_form
from study_files.study_variation import is_varied  # noqa: F401, likewise
from study_files.timeline_files import with_timelines
from wording.terminal_text import shown


class StudyError(FileError):
    """A study can't be run as written."""


#: Keys of a study that are used only for the page and the manifest.
PROSE = ("title", "description")


def load(path, overrides=None) -> dict:
    """Read a study file without validating or completing the study.

    Parameters
    ----------
    path : str or pathlib.Path
        Path of a YAML file.
    overrides : dict, optional
        Values that override values in the file, in the structure of a study. They come from Snakemake's `--config`, which passes numbers in
        lists and mappings as text. Sections are merged key by key; other values are replaced.

    Raises
    ------
    StudyError
        If the file can't be read, isn't a mapping, or has a duplicate key.
    """
    content = read_mapping(path, "a study", keys_of(study_schema()), StudyError)
    merged = _merge(study_schema(), content, _typed(study_schema(), overrides or {}))
    return _with_off(study_schema(), merged)


def written(config) -> dict:
    """Return a study that Snakemake has read (``config:`` of a module) in the form that `load` returns."""
    return _with_off(study_schema(), copy.deepcopy(config))


def resolve(config, source) -> dict:
    """Validate a study and complete it.

    In the returned study, `defaults` are merged into each scenario. If the study sets `platform`, the platform becomes a key of each
    scenario and a suffix of the study's name. All other keys in the schema are present, in the schema's order:

    - Values by direction are `{forward, reverse}`. Whole numbers are int.
    - `flows` is the number of long flows. `groups` is the list of groups, which may be empty.
    - A queue contains all parameters of its discipline (drop-tail has none).
    - Access delays are a list with one value per pair of hosts. Path delays are a list with one value per path. The bottlenecks of a chain
      are a list with the complete settings of each bottleneck.
    - Keys that a scenario doesn't use (`chain`, an outage, the image's own kernel) are omitted.
    - `ccas` lists the CCAs of all runs, with mixes expanded and the CCA of an exam included.
    - CCA definitions contain the digests of their C files. CCA definitions and scenarios contain the build inputs of their kernels, and
      `kernels` is omitted.
    - Groups of programs contain the declaration of the program. `programs` contains only the programs named in `ccas`, and is omitted if
      there are none.

    Parameters
    ----------
    config : dict
        The study as written, which isn't modified.
    source : str
        Path of the study's file.

    Raises
    ------
    StudyError
        If the study isn't valid; the exception contains one sentence per problem.
    """
    if not isinstance(config, dict):
        raise StudyError(source, [no_mapping_problem(config, keys_of(study_schema()))])
    of_directions = list(direction_problems(config))
    config, problems = with_timelines(with_directions(config), source)
    problems = problems or of_directions or problems_of_form(config)
    if problems:
        raise StudyError(source, problems)
    study = _complete(study_schema(), config)
    if study["exam"]["cca"] not in (None, *study["ccas"]):
        study["ccas"] = [*study["ccas"], study["exam"]["cca"]]
    shared = study.pop("defaults")
    node = scenario_schema()
    study["scenarios"] = [
        with_bottlenecks(_complete(node, _merge(node, shared, scenario))) for scenario in config["scenarios"]
    ]
    defined, problems = with_kernels(study)
    del study["kernels"]
    study["cca_definitions"], of_files = completed_definitions(defined)
    problems += of_files
    for scenario in study["scenarios"]:
        for section, key, count in (("hosts", "access_delay_ms", "pairs"), ("multipath", "path_delay_ms", "paths")):
            if not isinstance(scenario[section][key], list):  # a single number applies to all
                scenario[section][key] = [scenario[section][key]] * scenario[section][count]
        if of_paths := scenario["multipath"]["path_rate_mbps"]:
            # Code that needs only one rate uses the rate of the slowest path.
            scenario["link"] = scenario["link"] | {"rate_mbps": min(of_paths)}
        scenario |= counted_flows(scenario) | with_share_of_model(scenario)
        for key in (key for key in QUEUES if scenario[key]):
            problems += [f"scenarios[{scenario['id']}].{problem}" for problem in queue_problems(scenario[key], key)]
        problems += [f"scenarios[{scenario['id']}].{problem}" for problem in queues_of_chain(scenario)]
        scenario |= {key: completed(scenario[key]) for key in QUEUES if scenario[key]}
        for key in TRACES:
            if trace := scenario["link"][key]:
                try:
                    scenario["link"][key] = completed_trace(trace, source)
                except TraceError as error:
                    problems.append(_of_file(scenario, key, trace, error))
        if table := scenario["link"]["jitter_table"]:
            try:
                scenario["link"]["jitter_table"] = completed_table(table, source)
            except TraceError as error:
                problems.append(_of_file(scenario, "jitter_table", table, error))
    problems += with_programs(study)
    if problems:
        raise StudyError(source, problems)
    study = _on_one_platform(study)
    if len(study["study"]) > (limit := keys_of(study_schema())["study"]["maxLength"]):
        problem = (
            f"study is {config['study']}, and with its platform {study['study']}; allowed: up to {limit} characters."
        )
        raise StudyError(source, [problem])
    problems = contradictions(study)
    if problems:
        raise StudyError(source, problems)
    return study | {
        "scenarios": list(map(without_unused, study["scenarios"])),
        "ccas": ccas_written_out(study),
        "mixes": "as-listed",
    }


def _of_file(scenario, key, value, error):
    """Return the error message for a file named by a key of a link."""
    file = f".file {shown(value['file'], 200)}" if value["file"] is not None else ""
    return f"scenarios[{scenario['id']}].link.{key}{file} {error}"


def measured(study) -> dict:
    """Return a resolved study without `PROSE` and `analysis`, which don't affect runs or tables."""
    return {key: value for key, value in study.items() if key not in (*PROSE, "analysis")}


def _on_one_platform(study):
    """Move a study's platform, if one is set, into every scenario, and append the platform to the study's name."""
    platform = study.pop("platform")
    if platform is None:
        return study
    name = f"{study['study']}-{platform}"
    if study["analysis"]["compare_with"] == name:
        # The original study is compared with the study on this platform; here, the comparison is reversed.
        study["analysis"]["compare_with"] = study["study"]
    scenarios = [scenario | {"platform": platform} for scenario in study["scenarios"]]
    return study | {"study": name, "scenarios": scenarios}


def _merge(node, base, override):
    """Merge two mappings of the same schema node: sections are merged key by key, other values are replaced."""
    children, merged = keys_of(node), dict(base)
    for key, value in override.items():
        if is_section(children.get(key, {})) and isinstance(value, dict) and isinstance(base.get(key), dict):
            merged[key] = _merge(children[key], base[key], value)
        else:
            merged[key] = value
    return merged


def _typed(node, value):
    """Convert strings to the types that they would have in a YAML file, unless the schema node expects a string."""
    if isinstance(value, dict):
        children = keys_of(node)
        for branch in ("then", "else"):  # for keys that allow one value per direction
            children = {**keys_of(node.get(branch, {})), **children}
        return {key: _typed(children.get(key, {}), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(dereferenced(node.get("then", node).get("items", {})), item) for item in value]
    kinds = node.get("type", ())
    if value == "null" and "null" in kinds:
        return None
    if not isinstance(value, str) or value in node.get("enum", ()) or "joined" in node or "string" in kinds:
        return value
    try:
        typed = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError):
        return value
    return typed if typed is None or isinstance(typed, (bool, int, float)) else value


def _with_off(node, value):
    """Replace false with "off" where the schema allows `off`, because YAML reads `off` as false."""
    if isinstance(value, dict):
        return {key: _with_off(keys_of(node).get(key, {}), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_off(dereferenced(node.get("then", node).get("items", {})), item) for item in value]
    return "off" if value is False and "off" in node.get("enum", ()) else value


def _complete(node, section):
    """Fill in a section's missing keys, in the order of the schema."""
    complete = {}
    for key, child in keys_of(node).items():
        if is_section(child):
            # `defaults` of a study stay as written, because a default value filled in here would look like a value that the study sets.
            complete[key] = section.get(key, {}) if key == "defaults" else _complete(child, section.get(key, {}))
        elif key in section:
            complete[key] = _normal(child, section[key])
        elif "default_from" in child:
            complete[key] = complete[child["default_from"]]
        elif "default" in child:
            complete[key] = _normal(child, child["default"])
    return complete


def _has_defaults(node):
    """Return whether the schema node of a mapping lists keys, none of which takes its default from another key."""
    children = keys_of(node)
    return bool(children) and not any("default_from" in child for child in children.values())


def _normal(node, value):
    """Return the canonical form of a value: 10 instead of 10.0, and two values for a key that allows one per direction."""
    if has_directions(node):
        if not isinstance(value, dict) or not set(value) <= set(DIRECTIONS):
            value = dict.fromkeys(DIRECTIONS, value)
        return {direction: _normal(dereferenced(node["else"]), value[direction]) for direction in DIRECTIONS}
    if isinstance(value, dict):
        # If a mapping may be omitted entirely, its keys have their own defaults.
        inner = node.get("then", node if "null" in node.get("type", ()) and _has_defaults(node) else None)
        return _complete(inner, value) if inner else {key: _normal({}, v) for key, v in value.items()}
    if isinstance(value, list):
        items = dereferenced(node.get("items", {}))
        return [_complete(items, item) if _has_defaults(items) else _normal({}, item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return copy.deepcopy(value)
