"""Draw figures of synthetic tables, and read the positions of the marks from the SVG."""

import math
import re
import xml.etree.ElementTree as ET

import pandas as pd

import tidy_tables
from figure_parts import figure_style
from figure_parts.figure_svg import SVG, XLINK
from rule_files import carry_out
from run_tables.metrics import METRICS
from run_tables.reading import read_runs
from study_files.study_design import StudyDesign
from topics.cells.describe_cells import describe_cells
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.outline import figure_params, study_outline, table_paths

DIFFERENCES = [f"ip-difference-{metric.slug}" for metric in METRICS]
ALL = ["ideal", "price", "knee", "distributions", "emulation", *DIFFERENCES, "methods"]


def difference_table(runs):
    """Return a table with the columns of ``analysis/ip_versions.csv`` and invented numbers for each cell."""
    cells = runs.drop_duplicates(["scenario", "cca"])[["scenario", "scenario_label", "cca"]].to_dict("records")
    rows = [
        cell | {
            "metric": metric.column, "effect_unit": metric.effect_unit, "pairs": 5, "effect": 0.7 * number - 3,
            "ci_low": 0.7 * number - 5, "ci_high": 0.7 * number - 1, "ci90_low": 0.7 * number - 4.5,
            "ci90_high": 0.7 * number - 1.5, "margin": 5.0, "verdict": "undecided",
            "expected_effect": -1.381 if metric.slug == "goodput" else None, "note": "",
        }
        for metric in METRICS
        for number, cell in enumerate(cells)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=IP_VERSION_TESTS.names)


class Drawn:
    """A study's tables and figures in a folder."""

    def __init__(self, folder, study, differences=None, other=None):
        self.folder, self.study = folder, study
        tidy_tables.write_tidy(study, folder)
        self.runs = read_runs(folder / "tidy" / "runs.csv")
        descriptive = describe_cells(self.runs, 0.95)
        tables = {
            "descriptive": descriptive,
            "other_descriptive": descriptive if other is None else other,
            "ip_versions": difference_table(self.runs) if differences is None else differences,
        }
        (folder / "analysis").mkdir()
        for name, table in tables.items():
            table.to_csv(folder / "analysis" / f"{name}.csv", index=False, lineterminator="\n")
        resolved = study["provenance"]["study"] | {"analysis": tidy_tables.ANALYSIS | {"compare_with": "another"}}
        self.design = StudyDesign(resolved, frozenset({"descriptive"}))
        # Every figure can be drawn, even one that the workflow omits from a study with one IP version.
        self.figures = study_outline(
            StudyDesign(resolved | {"ip_versions": tidy_tables.IP_VERSIONS}, frozenset({"descriptive"}))
        ).figures

    def draw(self, name):
        """Draw a figure; return its path."""
        figure = next(figure for figure in self.figures if figure.slug == name)
        inputs = {
            table: self.folder / str(path).removeprefix("results/{study}/")
            if isinstance(path, str)
            else [self.folder / f"analysis/{table}.csv"]
            for table, path in table_paths(figure.inputs, self.design).items()
        }
        params = figure_params(figure, self.design, {"confidence": 0.95, "significance": 0.05})
        outputs = {"figure": self.figure(name), "data": self.folder / f"{name}.csv"}
        carry_out(f"topics.{figure.script.replace('/', '.')}", inputs, outputs, params)
        return self.figure(name)

    def figure(self, name):
        """Return the path of a figure."""
        return self.folder / f"{name}.svg"

    def data(self, name):
        """Return the data beside a figure."""
        return pd.read_csv(self.folder / f"{name}.csv", dtype={"scenario_label": str})

    def panel(self, name, number=1):
        """Return a panel of a figure, which is drawn if it doesn't exist."""
        if not self.figure(name).exists():
            self.draw(name)
        return panel(self.figure(name), number)


def panel(path, number=1):
    """Return a panel of a figure's file."""
    root = ET.parse(path).getroot()
    return next(group for group in root.iter(f"{{{SVG}}}g") if group.get("id") == f"panel-{number}")


def scale(panel, direction, kind):
    """Return a function from a value on the "x" or "y" axis to its position in the SVG, based on the axis's own tick labels.

    `kind` is "linear" or "log".
    """
    change = math.log10 if kind == "log" else float
    known = []
    for group in panel.iter(f"{{{SVG}}}g"):
        if not (group.get("id") or "").startswith(f"{direction}tick_"):
            continue
        label = "".join(next(group.iter(f"{{{SVG}}}text")).itertext())
        line = next(p for p in group.iter(f"{{{SVG}}}path") if "id" not in p.attrib)
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", line.get("d"))]
        value = float(label.replace(",", "").replace("k", "e3").replace("\N{MINUS SIGN}", "-"))
        known.append((change(value), numbers["xy".index(direction)]))
    (one, at_one), (two, at_two) = known[0], known[-1]
    return lambda value: at_one + (change(value) - one) * (at_two - at_one) / (two - one)


def marks(panel, colour=None, kind="stroke"):
    """Return the positions (x, y) of a panel's marks whose stroke or fill has a CCA's colour, or a given colour."""
    wanted = {colour} if colour else {getattr(figure_style.LIGHT, hue) for hue in figure_style.HUES}
    places = []
    for parent in panel.iter(f"{{{SVG}}}g"):
        for use in parent.findall(f"{{{SVG}}}use"):
            drawn = re.search(rf"{kind}: (#[0-9a-f]{{6}})", use.get("style") or parent.get("style") or "")
            if drawn and drawn.group(1) in wanted and use.get(f"{{{XLINK}}}href"):
                places.append((float(use.get("x")), float(use.get("y"))))
    return places


def words(panel):
    """Return the texts of a panel."""
    return ["".join(text.itertext()) for text in panel.iter(f"{{{SVG}}}text")]


def panels_alike(path):
    """Return the texts, apart from numbers, and the descriptions that several panels of a figure's file have in common."""
    panels = [
        group for group in ET.parse(path).iter(f"{{{SVG}}}g") if re.fullmatch(r"panel-\d+", group.get("id") or "")
    ]
    texts = [
        " | ".join(text for text in words(one) if not re.fullmatch(r"[\N{MINUS SIGN}\d.,]*", text)) for one in panels
    ]
    described = [one.get("aria-label") for one in panels]
    return [one for all_of in (texts, described) for one in sorted(set(all_of)) if all_of.count(one) > 1]


def drawing_alike(drawing, folder):
    """Return `panels_alike` for a `Drawing`, which is saved in a folder."""
    drawing.save(folder / "figure.svg", folder / "figure.csv")
    return panels_alike(folder / "figure.svg")


def paths(panel, style):
    """Return the numbers of each path of a panel whose style contains a text."""
    return [
        [float(n) for n in re.findall(r"-?[\d.]+", path.get("d"))]
        for path in panel.iter(f"{{{SVG}}}path")
        if style in (path.get("style") or "")
    ]
