"""A study of synthetic tables taken through analysis, figures and page, as the rules do it."""

import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import tidy_tables
from buffer_steps import buffers_step, platforms_step
from fairness_steps import fairness_step
from path_steps import multipath_step
from size_steps import packet_size_step
from study_files.claims import load_claims
from study_files.study_design import IP_PAPER
from study_files.study_outline import study_outline
from window_steps import time_series_step

ROOT = Path(__file__).parents[2]
CLAIMS_FILE = ROOT / "config" / "claims" / "lima-ccas-ipv4-ipv6.yaml"
# Scripts of the analysis, with the tables that each writes.
ANALYSES = (
    ("describe_cells", "descriptive"),
    ("summarise_validity", "validity", "checks"),
    ("compare_ip_versions", "ip_versions"),
    ("compare_overall", "ip_overall"),
    ("compare_ccas", "ccas", "cca_pairs"),
    ("describe_pooled", "pooled", "pooled_tests"),
    ("fit_models", "models", "regressions"),
    ("check_claims", "claims"),
    ("find_mislabelled", "mislabelled"),
)
#: Of a study in which asked Vegas was CUBIC.
MISLABELLED_ROW = {
    "scenario": "refused", "scenario_label": "4 refused", "cca": "vegas", "observed": "cubic",
    "ip_version": "ipv6", "runs": 4, "goodput_mbps": 933.1, "rtt_mean_ms": 35.2, "retransmits": 1667.25,
    "reference_scenario": "allowed", "goodput_mbps_asked": 870.1, "rtt_mean_ms_asked": 20.4,
    "retransmits_asked": 0, "goodput_mbps_observed": 933.1, "rtt_mean_ms_observed": 35.2,
    "retransmits_observed": 1667.25, "identical_runs": 4, "same_as": "",
}  # fmt: skip
# What the rules of a topic do, by its name: a function of a `Built`.
TOPIC_STEPS = {
    "time_series": time_series_step,
    "fairness": fairness_step,
    "buffers": buffers_step,
    "platforms": platforms_step,
    "packet_size": packet_size_step,
    "multipath": multipath_step,
}
# Figures with a script of their own; the others are metrics'.
LONE_FIGURES = ("ideal", "price", "knee", "distributions", "emulation")
PARAMS = {
    "confidence": 0.95,
    "significance": 0.05,
    "power": 0.8,
    "resamples": 200,
    "seed": 1,
    "margins": {"goodput_mbps": 5, "rtt_mean_ms": 5, "loss_percent": 0.5, "retransmits": 20},
    "detect": {"goodput_mbps": 1, "rtt_mean_ms": 1, "loss_percent": 0.1, "retransmits": 10},
    "configfile": "config/studies/synthetic.yaml",
    "compare_with": None,
}


class Built:
    """A study's folder and page.

    Attributes
    ----------
    folder, page : Path
    other : Built or None
        The study of the other method.
    outline : StudyOutline
        Once it is built.
    report : Path
        Folder of the page's template, style, sections and captions.
    """

    def __init__(self, folder, other=None, report=ROOT / "report"):
        self.folder, self.other, self.outline = Path(folder), other, None
        self.report = report
        self.page = self.folder / "report.html"

    def build(self, study, claims=False, steps=()):
        """Write the study's tables, then do what the rules do.

        Parameters
        ----------
        study : dict
            As `tidy_tables.synthetic_study` gives it.
        claims : bool
            Whether those of the paper on IP versions are checked.
        steps : iterable of callable
            What else is to be done before the page is written: each is called with this object.
        """
        tidy_tables.write_tidy(study, self.folder)
        for name in ("analysis", "figures"):
            (self.folder / name).mkdir(exist_ok=True)
        self.outline = study_outline(study["provenance"]["study"], IP_PAPER if claims else None)
        self.analyse()
        self.draw()
        for step in (*(TOPIC_STEPS[topic.name] for topic in self.outline.topics if topic.name in TOPIC_STEPS), *steps):
            step(self)
        self.write_page()
        return self

    def table(self, name):
        """Return the path of a table, tidy or analysis."""
        tidy = ("runs", "scenarios", "flows")
        return self.folder / ("tidy" if name in tidy else "analysis") / f"{name}.csv"

    def figure(self, slug):
        """Return the path of a figure."""
        return self.folder / "figures" / f"{slug}.svg"

    def data(self, slug):
        """Return the path of a figure's data."""
        return self.folder / "figures" / f"{slug}.csv"

    def run(self, script, outputs, inputs=None, **more):
        """Call a rule's script; `inputs` are those that most rules don't have, and `more` are its own parameters."""
        names = ("runs", "scenarios", "flows", "descriptive", "ip_versions", "ip_overall")
        known = {name: self.table(name) for name in names} | {
            "checks": self.folder / "tidy" / "checks.csv",
            "provenance": self.folder / "tidy" / "provenance.json",
            "sockets": self.folder / "tidy" / "sockets.parquet",
        }
        main = importlib.import_module(script).main
        arguments = [SimpleNamespace(**(known | (inputs or {}))), SimpleNamespace(**outputs), SimpleNamespace(**(PARAMS | more))]
        main(*arguments[: main.__code__.co_argcount])

    def analyse(self):
        """Write the tables of the analysis that the study's design has."""
        for script, *names in ANALYSES:
            if names[0] in self.outline.tables:
                more = {"claims": load_claims(CLAIMS_FILE)} if script == "check_claims" else {}
                self.run(script, {name: self.table(name) for name in names}, **more)

    def draw(self):
        """Draw the figures that the study's design has, but for those of topics."""
        of_topics = {figure.slug for topic in self.outline.topics for figure in topic.figures(self.outline.design)}
        for figure in self.outline.figures:
            if figure.caption == "ip-difference":
                self.run("plot_ip_difference", self.outputs(figure.slug), metric=figure.words["metric"])
            elif figure.slug in LONE_FIGURES:
                self.run(f"plot_{figure.slug}", self.outputs(figure.slug))
            elif figure.slug not in of_topics:
                self.run("plot_metric", self.outputs(figure.slug), metric=figure.slug)

    def outputs(self, slug):
        """Return the outputs of a figure's rule."""
        return {"figure": self.figure(slug), "data": self.data(slug)}

    def page_inputs(self):
        """Return the report rule's inputs by name."""
        report, outline = self.report, self.page_outline()
        names = ("runs", "scenarios", *outline.tables)
        inputs = {name: self.table(name) for name in names if self.table(name).exists()}
        inputs |= {
            "provenance": self.folder / "tidy" / "provenance.json",
            "template": report / "page.html.j2",
            "style": report / "page.css",
            "script": report / "page.js",
            # As Snakemake gives an input that is an empty list.
            "other_claims": [],
            "other_mislabelled": [],
        }
        if self.other:
            for name in ("claims", "mislabelled"):
                path = self.other.table(name)
                inputs[f"other_{name}"] = [path] if path.exists() else []
        for figure in outline.figures:
            name = figure.slug.replace("-", "_")
            inputs[f"{name}_figure"], inputs[f"{name}_data"] = self.figure(figure.slug), self.data(figure.slug)
            inputs[f"{name}_caption"] = report / "captions" / f"{figure.caption}.rst"
        return inputs

    def page_outline(self):
        """Return the outline of the study whose tables lie in the folder."""
        study = json.loads((self.folder / "tidy" / "provenance.json").read_text(encoding="utf-8"))["study"]
        return study_outline(study, IP_PAPER if self.table("claims").exists() else None)

    def write_page(self, **params):
        """Write the page."""
        import write_report

        if self.other:
            params = {"compare_with": "other-method", **params}
        # As the Snakefile does: what the claims file gives, if the study names one.
        claims = load_claims(CLAIMS_FILE) if self.table("claims").exists() else None
        known = {
            "claims_name": claims and IP_PAPER, "claims": claims and claims["claims"],
            "paper": claims and claims["paper"],
        }  # fmt: skip
        write_report.main(self.page_inputs(), SimpleNamespace(report=self.page), PARAMS | known | params)

    def change(self, name, change):
        """Rewrite a table of the analysis by a function of its DataFrame of texts."""
        table = pd.read_csv(self.table(name), dtype=str, keep_default_na=False)
        change(table).to_csv(self.table(name), index=False, lineterminator="\n")
