"""Execute rules of the workflow in this process, with their own inputs, outputs and parameters, without Snakemake and containers.

The rule files are read unchanged, so that a misspelt input, table or parameter fails here too. (Their execution by Snakemake
is tested in `tests/workflow/test_topics_end_to_end.py`.)
"""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from topics import carry_out as declared
from topics.registry import TOPICS

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "workflow" / "scripts"
RULE = re.compile(r"^rule (\w+):\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)
SECTION = re.compile(r"^ {4}(input|output|params|script):\n((?: {8}.*\n)+)", re.MULTILINE)


class Named(SimpleNamespace):
    """Values by name, in the form in which Snakemake passes them to scripts."""

    def items(self):
        return vars(self).items()


@dataclass(frozen=True)
class Rule:
    """A rule with the text of its sections, which are Python: arguments of a call."""

    name: str
    folder: Path
    sections: dict

    def section(self, name, namespace):
        """Return a section's values by name."""
        return eval(f"dict({self.sections.get(name, '')})", namespace)

    @property
    def script(self):
        """The script's module, as imported from workflow/scripts."""
        path = (self.folder / eval(self.sections["script"])).resolve()
        return str(path.relative_to(SCRIPTS).with_suffix("")).replace("/", ".")


def rules_of(path):
    """Return the rules of a file, in its order."""
    text = Path(path).read_text(encoding="utf-8") + "\n"
    return [Rule(name, Path(path).parent, dict(SECTION.findall(body))) for name, body in RULE.findall(text)]


def code_beside_rules(path):
    """Return the Python code of a rule file outside its rules."""
    return RULE.sub("", Path(path).read_text(encoding="utf-8") + "\n")


def carry_out(script, inputs, outputs, params):
    """Execute a script as its rule does: a rule's own script by its main function, a declared one by its function."""
    module = importlib.import_module(script)
    inputs, outputs, params = (part if isinstance(part, dict) else vars(part) for part in (inputs, outputs, params))
    if hasattr(module, "main"):
        module.main(Named(**inputs), Named(**outputs), Named(**params))
        return
    tables = [table for topic in TOPICS for table in topic.tables]
    kinds = {table.name: {column.name: column.kind for column in table} for table in tables}
    call = {
        "script": script.removeprefix("topics.").replace(".", "/"),
        "params": params,
        "kinds": kinds,
        "columns": {table.name: table.names for table in tables},
        "digits": {table.name: table.digits for table in tables},
    }
    declared.carry_out(call, inputs, outputs)
