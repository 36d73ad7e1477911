"""A study of synthetic tables taken through analysis, figures and page, as the rules do it."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import tidy_tables
from run_tables.metrics import METRICS, PUBLISHED_METRICS
from study_files.claims import load_claims

ROOT = Path(__file__).parents[2]
CLAIMS_FILE = ROOT / "config" / "claims" / "lima-ccas-ipv4-ipv6.yaml"
METRIC_FIGURES = [metric.slug for metric in (*METRICS, *PUBLISHED_METRICS)]
LONE_FIGURES = ["ideal", "price", "knee", "distributions", "emulation"]
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
    """

    def __init__(self, folder, other=None):
        self.folder, self.other = Path(folder), other
        self.page = self.folder / "report.html"

    def build(self, study, claims=False):
        """Write the study's tables, then do what the rules do; `claims` checks those of the paper."""
        tidy_tables.write_tidy(study, self.folder)
        for name in ("analysis", "figures"):
            (self.folder / name).mkdir(exist_ok=True)
        self.analyse(claims)
        self.draw()
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

    def run(self, script, outputs, **more):
        """Call a rule's script."""
        inputs = SimpleNamespace(
            **{
                name: self.table(name)
                for name in ("runs", "scenarios", "flows", "descriptive", "ip_versions", "ip_overall")
            },
            checks=self.folder / "tidy" / "checks.csv",
        )
        main = importlib.import_module(script).main
        arguments = [inputs, SimpleNamespace(**outputs), SimpleNamespace(**(PARAMS | more))]
        main(*arguments[: main.__code__.co_argcount])

    def analyse(self, claims):
        """Write the tables of the analysis."""
        for script, *names in (
            ("describe_cells", "descriptive"),
            ("summarise_validity", "validity", "checks"),
            ("compare_ip_versions", "ip_versions"),
            ("compare_overall", "ip_overall"),
            ("compare_ccas", "ccas", "cca_pairs"),
            ("describe_pooled", "pooled", "pooled_tests"),
            ("fit_models", "models", "regressions"),
        ):
            self.run(script, {name: self.table(name) for name in names})
        if claims:
            self.run("check_claims", {"claims": self.table("claims")}, claims=load_claims(CLAIMS_FILE))

    def draw(self):
        """Draw the figures."""
        for slug in METRIC_FIGURES:
            self.run("plot_metric", self.outputs(slug), metric=slug)
        for slug in LONE_FIGURES:
            self.run(f"plot_{slug}", self.outputs(slug))
        for metric in METRICS:
            self.run("plot_ip_difference", self.outputs(f"ip-difference-{metric.slug}"), metric=metric.slug)

    def outputs(self, slug):
        """Return the outputs of a figure's rule."""
        return {"figure": self.figure(slug), "data": self.data(slug)}

    def page_inputs(self):
        """Return the report rule's inputs by name."""
        report = ROOT / "report"
        inputs = {
            name: self.table(name)
            for name in (
                "runs", "scenarios", "descriptive", "validity", "checks", "ip_versions", "ip_overall",
                "ccas", "cca_pairs", "pooled", "pooled_tests", "models", "regressions", "claims", "mislabelled",
            )
            if self.table(name).exists()
        }  # fmt: skip
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
        for path in sorted((self.folder / "figures").glob("*.svg")):
            slug, caption = path.stem, path.stem
            if slug.startswith("ip-difference"):
                caption = "ip-difference"
            name = slug.replace("-", "_")
            inputs[f"{name}_figure"], inputs[f"{name}_data"] = path, self.data(slug)
            inputs[f"{name}_caption"] = report / "captions" / f"{caption}.rst"
        return inputs

    def write_page(self, **params):
        """Write the page."""
        import write_report

        if self.other:
            params = {"compare_with": "other-method", **params}
        # As the Snakefile does: what the claims file gives, if the study names one.
        claims = load_claims(CLAIMS_FILE) if self.table("claims").exists() else None
        known = {"claims": claims and claims["claims"], "paper": claims and claims["paper"]}
        write_report.main(self.page_inputs(), SimpleNamespace(report=self.page), PARAMS | known | params)

    def change(self, name, change):
        """Rewrite a table of the analysis by a function of its DataFrame of texts."""
        table = pd.read_csv(self.table(name), dtype=str, keep_default_na=False)
        change(table).to_csv(self.table(name), index=False, lineterminator="\n")
