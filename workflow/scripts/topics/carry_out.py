"""Run several of the topics' analysis or figure scripts sequentially in one process.

Each script defines a function with the script's name. The function neither reads nor writes files. Its arguments are named after the
tables and parameters that it needs (`arguments_of`). An analysis function returns its tables in the order in which the `Analysis` declares
them; a figure function returns a `Drawing`.
"""

from collections.abc import Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from types import SimpleNamespace

from figure_parts.captions import write_caption
from rule_script import run_rule
from run_tables.reading import read_named, read_once


def main(inputs, outputs, params) -> None:
    """Run the rule's calls one by one, each with its own inputs and outputs."""
    made = dict(outputs.items())
    there = made | dict(inputs.items())  # a script may read the results of earlier scripts
    with read_once():
        for call in params.calls:
            inputs_of = {name: there[of_rule] for name, of_rule in call["inputs"].items()}
            outputs_of = {name: made[of_rule] for name, of_rule in call["outputs"].items()}
            carry_out(call, inputs_of, outputs_of)


def carry_out(call: Mapping, inputs: Mapping, outputs: Mapping) -> None:
    """Run a script: read the tables that it needs and write its results; for a figure, also write the caption.

    Parameters
    ----------
    call : mapping
        A call from `outline.analysis_rule` or `outline.figure_rule`: script, params, kinds (table -> column -> kind, for input tables that
        come from analyses), columns and digits (of the resulting tables), and caption (for a figure without a caption file).
    inputs, outputs : mapping
        Name of a table -> path; the outputs of a figure are ``figure``, ``data`` and ``caption``.
    """
    script = import_module(f"topics.{call['script'].replace('/', '.')}")
    function = getattr(script, script.__name__.rpartition(".")[2])
    result = function(**arguments_of(function, inputs, call["kinds"], call["params"]))
    if "figure" in outputs:
        result.save(outputs["figure"], outputs["data"])
        if "caption" in outputs:
            template = call.get("caption") or Path(inputs["caption"]).read_text(encoding="utf-8")
            write_caption(template, call["params"], outputs["caption"])
        return
    results = result if isinstance(result, tuple) else (result,)
    for (name, path), table in zip(outputs.items(), results, strict=True):
        if (made := list(table.columns)) != list(call["columns"][name]):
            raise ValueError(
                f"{call['script']} returns {', '.join(made)} as {name}; its declared columns are {', '.join(call['columns'][name])}"
            )
        digits = call["digits"].get(name)
        table.to_csv(path, index=False, lineterminator="\n", float_format=digits and f"%.{digits}g")


def arguments_of(function, inputs: Mapping, kinds: Mapping, params: Mapping) -> dict:
    """Return the keyword arguments for a script's function: parameters, and tables read from the inputs.

    An argument named ``params`` is an object with all parameters as attributes. Raises `ValueError` if an argument without a default is
    neither a table nor a parameter.
    """
    arguments = {}
    for name, wanted in signature(function).parameters.items():
        if name in params:
            arguments[name] = params[name]
        elif name in inputs:
            arguments[name] = read_named(name, inputs[name], kinds)
        elif name == "params":
            arguments[name] = SimpleNamespace(**params)
        elif wanted.default is Parameter.empty:
            known = ", ".join([*inputs, *params])
            raise ValueError(
                f"{function.__name__} needs '{name}', which isn't among the declared inputs and parameters: {known}"
            )
    return arguments


if "snakemake" in globals():
    run_rule(main, snakemake)
