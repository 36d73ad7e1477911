"""A study of synthetic tables, analysed, drawn and reported with the workflow's own rules and declarations."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest

import synthetic_series
import tidy_tables
from inference.settings import SETTINGS
from rule_files import ROOT, carry_out, code_beside_rules, rules_of
from run_tables.parquet import schema_of
from run_tables.series_tables import INTERVALS, QUEUE, SOCKETS
from session.checkout import paths_below
from study_files import study as studies
from study_files.kernels import image_version
from study_files.study_design import StudyDesign
from topics import registry
from topics.claims.claim_versions import record_claims
from topics.claims.claims_file import claims_version, load_claims
from topics.outline import analysis_rule, figure_rule, section_modules, study_outline, table_paths

#: A row of a study whose runs labelled Vegas were CUBIC.
MISLABELLED_ROW = {
    "scenario": "refused", "scenario_label": "4 refused", "cca": "vegas", "observed": "cubic",
    "ip_version": "ipv6", "runs": 4, "goodput_mbps": 933.1, "rtt_mean_ms": 35.2, "retransmits": 1667.25,
    "reference_scenario": "allowed", "goodput_mbps_asked": 870.1, "rtt_mean_ms_asked": 20.4,
    "retransmits_asked": 0, "goodput_mbps_observed": 933.1, "rtt_mean_ms_observed": 35.2,
    "retransmits_observed": 1667.25, "identical_runs": 4, "same_as": "", "difference_percent": 7.25, "note": "",
}  # fmt: skip
#: Topics that only studies of some designs have; all studies have the others.
SPECIAL = ("calibration", "time_series", "fairness", "buffers", "platforms", "packet_size", "multipath")


class Built:
    """A study's folder and pages.

    Attributes
    ----------
    folder, report, page, findings : Path
        The study's folder, its short page, the page with the details, and the findings as data.
    other : Built or None
        The study that this one is compared with.
    topics : tuple of Topic
        Available topics.
    outline : StudyOutline
        Set by `build`.
    """

    def __init__(self, folder, other=None, topics=None):
        self.folder, self.other, self.outline = Path(folder), other, None
        self.topics = registry.TOPICS if topics is None else topics
        self.report, self.page = self.folder / "report.html", self.folder / "details.html"
        self.findings = self.folder / "findings.json"
        self.claims_name, self.analysis = None, dict(tidy_tables.ANALYSIS)

    def build(self, study, claims=None, analysis=()):
        """Write the study's tables, then execute the rules of its topics, figures and page.

        Parameters
        ----------
        study : dict
            Result of `tidy_tables.synthetic_study`.
        claims : str, optional
            Name of the claims file to check.
        analysis : mapping
            Values of the study's ``analysis`` that aren't defaults.
        """
        self.claims_name = claims
        self.analysis |= dict(analysis)
        tidy_tables.write_tidy(study, self.folder)
        return self.make()

    def make(self):
        """Execute the rules of the topics, figures and page for the tidy tables in the folder."""
        for name in ("analysis", "figures"):
            (self.folder / name).mkdir(exist_ok=True)
        self.outline = self.outline_of_tables()
        synthetic_series.write(self)
        for topic in self.outline.topics:
            self.analyse(topic)
        for figure in self.outline.figures:
            self.draw(figure.slug)
        self.write_page()
        return self

    @property
    def study(self):
        """The study whose tables are in the folder, as resolved by the Snakefile."""
        study = json.loads((self.folder / "tidy" / "provenance.json").read_text(encoding="utf-8"))["study"]
        other = self.other and "other-method"
        return study | {"analysis": self.analysis | {"claims": self.claims_name, "compare_with": other}}

    def outline_of_tables(self):
        """Return the outline of the study whose tables are in the folder."""
        tables = self.other.folder.glob("analysis/*.csv") if self.other else ()
        paper = load_claims(ROOT / f"config/claims/{self.claims_name}.yaml")["paper"] if self.claims_name else {}
        return study_outline(StudyDesign(self.study, frozenset(path.stem for path in tables), paper), self.topics)

    def namespace(self, outline):
        """Return the names that the Snakefile defines for its rules."""
        path = ROOT / f"config/claims/{self.claims_name}.yaml"
        claims, version = (of(path) if self.claims_name else None for of in (load_claims, claims_version))
        if version:
            record_claims(self.folder, version)
        return {
            "STUDY": self.study, "RERUN_FILE": "config/studies/synthetic.yaml", "CONFIG_GIVEN": {}, "ANALYSIS": self.study["analysis"],
            "CLAIMS": claims,
            "CLAIMS_VERSION": version, "update": str,
            "CLAIMS_NAME": self.claims_name, "CLAIMS_FILE": path, "own": str, "RESULTS": "results",
            "files_below": partial(paths_below, ROOT), "SETTINGS": SETTINGS, "ANALYSIS_IMAGE": "sha256:0",
            "DESIGN": outline.design, "OUTLINE": outline, "Path": lambda path: ROOT / path, "code_of": lambda *scripts: "",
            "table_paths": table_paths, "figure_rule": figure_rule, "section_modules": section_modules, "studies": studies,
            "image_version": image_version,
        }  # fmt: skip

    def place(self, path):
        """Return the path of a file of the workflow or of its results; for a list of files, their paths."""
        if not isinstance(path, (str, Path)):
            return [self.place(part) for part in path]
        for study, folder in (("{study}", self.folder), ("other-method", self.other and self.other.folder)):
            if str(path).startswith(f"results/{study}/"):
                return folder / str(path).removeprefix(f"results/{study}/")
        return ROOT / path

    def carry_out(self, script, inputs, outputs, params):
        """Call a script with a rule's paths and parameters."""
        carry_out(
            script, *({name: self.place(path) for name, path in part.items()} for part in (inputs, outputs)), params
        )

    def analyse(self, topic, **params):
        """Execute the rules of a topic that make tables of the study."""
        for script, inputs, outputs, more in self.analyses_of(topic):
            for call in more.get("calls", ()):
                call["params"] |= params
            self.carry_out(script, inputs, outputs, more if "calls" in more else more | params)

    def analyses_of(self, topic):
        """Yield (script's module, inputs, outputs, parameters) of each rule of a topic: its own, then the declared ones."""
        path, wanted = ROOT / topic.folder / "rules.smk", {table.name for table in self.outline.tables}
        namespace, design = self.namespace(self.outline), self.outline.design
        for rule in rules_of(path) if path.exists() else ():
            outputs = rule.section("output", namespace)
            if wanted & outputs.keys():
                yield rule.script, rule.section("input", namespace), outputs, rule.section("params", namespace)
        for analysis in self.outline.analyses:
            if analysis.script.startswith(f"{topic.name}/"):
                rule = analysis_rule([analysis], design, SETTINGS)
                yield "topics.carry_out", rule["input"], rule["output"], {"calls": rule["calls"]}

    def draw(self, slug, **params):
        """Draw a figure in the same way as the job that draws all figures."""
        figure = next(figure for figure in self.outline.figures if figure.slug == slug)
        rule = figure_rule([figure], self.outline.design, SETTINGS, str)
        rule["calls"][0]["params"] |= params
        self.carry_out("topics.carry_out", rule["input"], rule["output"], {"calls": rule["calls"]})

    def page_rule(self, name="write_report"):
        """Return script, inputs and parameters of a rule of the report, for the tables in the folder."""
        path = ROOT / "workflow/rules/report.smk"
        outline = self.outline_of_tables()
        outline = study_outline(outline.design, [topic for topic in self.topics if topic in outline.topics])
        namespace = self.namespace(outline)
        exec(code_beside_rules(path), namespace)
        rule = next(rule for rule in rules_of(path) if rule.name == name)
        inputs = {key: self.place(given) for key, given in rule.section("input", namespace).items()}
        return rule.script, inputs, rule.section("params", namespace)

    def write_page(self, **params):
        """Write both pages."""
        script, inputs, given = self.page_rule()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "TOPICS", self.topics)
            carry_out(
                script, inputs, {"report": self.report, "details": self.page, "findings": self.findings}, given | params
            )

    def write_explorer(self):
        """Write the page on which readers explore the runs; return its path."""
        script, inputs, params = self.page_rule("write_explorer")
        page = self.folder / "explore.html"
        # A synthetic study has no other samples.
        rows = {"intervals": synthetic_series.intervals(pd.read_csv(inputs["runs"])), "sockets": [], "queue": []}
        for table in (INTERVALS, SOCKETS, QUEUE):
            if not inputs[table.name].exists():
                content = pyarrow.Table.from_pylist(rows[table.name], schema=schema_of(table))
                pyarrow.parquet.write_table(content, inputs[table.name])
        carry_out(script, inputs, {"page": page}, params)
        return page

    def table(self, name):
        """Return the path of a table, tidy or analysis."""
        tidy = ("runs", "scenarios", "flows", "paths")
        return self.folder / ("tidy" if name in tidy else "analysis") / f"{name}.csv"

    def figure(self, slug):
        """Return the path of a figure."""
        return self.folder / "figures" / f"{slug}.svg"

    def data(self, slug):
        """Return the path of a figure's data."""
        return self.folder / "figures" / f"{slug}.csv"

    def change(self, name, change):
        """Rewrite a table of the analysis with a function of its DataFrame of texts."""
        table = pd.read_csv(self.table(name), dtype=str, keep_default_na=False)
        change(table).to_csv(self.table(name), index=False, lineterminator="\n")


def only(*special):
    """Return the topics of all studies and the named special ones."""
    return tuple(topic for topic in registry.TOPICS if topic.name not in SPECIAL or topic.name in special)
