"""Carry out scripts of topics one after another in one process: analyses or figures, as `outline.Call` describes them."""

from importlib import import_module

from figure_parts.captions import write_caption
from rule_script import run_rule
from run_tables.reading import read_once


class Values(dict):
    """Values by name, also as attributes, as scripts get them of a rule of their own."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def main(inputs, outputs, params) -> None:
    """Call each script's main with its own part of the rule's files, and fill the captions of figures."""
    made = dict(outputs.items())
    there = made | dict(inputs.items())  # what one script makes another may read
    with read_once():
        for call in params.calls:
            own_params = Values(call["params"])
            inputs_of = Values({name: there[of_rule] for name, of_rule in call["inputs"].items()})
            outputs_of = Values({name: made[of_rule] for name, of_rule in call["outputs"].items()})
            import_module(f"topics.{call['script'].replace('/', '.')}").main(inputs_of, outputs_of, own_params)
            if "caption" in outputs_of:
                write_caption(inputs_of.caption, own_params, outputs_of.caption)


if "snakemake" in globals():
    run_rule(main, snakemake)
