"""Draw figures of synthetic tables, and read back from the SVG where the marks stand."""

import importlib
import math
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import describe_cells
import pandas as pd
import tidy_tables
from figure_parts import figure_style
from figure_parts.figure_svg import SVG, XLINK
from run_tables.metrics import METRICS
from run_tables.tidy_columns import read_runs

FROM_RUNS = ["ideal", "price", "knee", "distributions", "emulation"]
DIFFERENCES = [f"ip-difference-{metric.slug}" for metric in METRICS]
ALL = [*FROM_RUNS, *DIFFERENCES, "methods"]
DIFFERENCE_COLUMNS = (
    "metric effect_unit scenario scenario_label cca pairs effect ci_low ci_high ci90_low ci90_high "
    "expected_effect margin verdict note"
).split()
COLOUR = re.compile(r"stroke: (#[0-9a-f]{6})")


def difference_table(runs, margin=5.0):
    """Return a table in the shape of ``analysis/ip_versions.csv``, its numbers made up by cell."""
    rows = []
    for metric in METRICS:
        cells = runs.drop_duplicates(["scenario", "cca"])
        for number, (scenario, label, cca) in enumerate(
            zip(cells["scenario"], cells["scenario_label"], cells["cca"], strict=True)
        ):
            effect = 0.7 * number - 3
            rows.append(
                {
                    "metric": metric.column, "effect_unit": metric.effect_unit, "scenario": scenario,
                    "scenario_label": label, "cca": cca, "pairs": 5, "effect": effect,
                    "ci_low": effect - 2, "ci_high": effect + 2, "ci90_low": effect - 1.5,
                    "ci90_high": effect + 1.5, "margin": margin, "verdict": "undecided",
                    "expected_effect": -1.381 if metric.slug == "goodput" else None, "note": "",
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS)


class Drawn:
    """A study's tables and figures in a folder."""

    def __init__(self, folder, study, differences=None, other=None):
        self.folder, self.study = folder, study
        tidy_tables.write_tidy(study, folder)
        self.runs = read_runs(folder / "tidy" / "runs.csv")
        descriptive = describe_cells.describe_cells(self.runs, 0.95)
        differences = difference_table(self.runs) if differences is None else differences
        for name, table in (
            ("descriptive", descriptive),
            ("other_descriptive", descriptive if other is None else other),
            ("ip_versions", differences),
        ):
            table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")

    def draw(self, name):
        """Draw a figure; return its path."""
        inputs = SimpleNamespace(
            runs=self.folder / "tidy" / "runs.csv",
            scenarios=self.folder / "tidy" / "scenarios.csv",
            **{n: self.folder / f"{n}.csv" for n in ("descriptive", "other_descriptive", "ip_versions")},
        )
        outputs = SimpleNamespace(figure=self.figure(name), data=self.folder / f"{name}.csv")
        slug = name.removeprefix("ip-difference-")
        params = SimpleNamespace(
            metric=slug, confidence=0.95, significance=0.05, name="one", other_name="another"
        )
        script = name.replace("-", "_").removesuffix(f"_{slug}") if slug != name else name
        main = importlib.import_module(f"plot_{script}").main
        main(*[inputs, outputs, params][: main.__code__.co_argcount])
        return outputs.figure

    def figure(self, name):
        """Return the path of a figure."""
        return self.folder / f"{name}.svg"

    def data(self, name):
        """Return the data beside a figure."""
        return pd.read_csv(self.folder / f"{name}.csv", dtype={"scenario_label": str})

    def panel(self, name, number=1):
        """Return a panel of a figure, which is drawn if it isn't there."""
        if not self.figure(name).exists():
            self.draw(name)
        root = ET.parse(self.figure(name)).getroot()
        return next(g for g in root.iter(f"{{{SVG}}}g") if g.get("id") == f"panel-{number}")


def scale(panel, direction, kind):
    """Return a function from a value to its place in the SVG, from the axis's own tick labels.

    Parameters
    ----------
    panel : Element
    direction : str
        "x" or "y".
    kind : str
        "linear" or "log".
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


def marks(panel, colour=None):
    """Return places (x, y) of a panel's marks in the colours of CCAs, or of one colour."""
    wanted = {colour} if colour else {getattr(figure_style.LIGHT, hue) for hue in figure_style.HUES}
    places = []
    for parent in panel.iter(f"{{{SVG}}}g"):
        for use in parent.findall(f"{{{SVG}}}use"):
            found = COLOUR.search(use.get("style") or parent.get("style") or "")
            if found and found.group(1) in wanted and use.get(f"{{{XLINK}}}href"):
                places.append((float(use.get("x")), float(use.get("y"))))
    return places


def words(panel):
    """Return the texts of a panel."""
    return ["".join(text.itertext()) for text in panel.iter(f"{{{SVG}}}text")]


def paths(panel, style):
    """Return the numbers of each path of a panel whose style holds some words."""
    return [
        [float(n) for n in re.findall(r"-?[\d.]+", path.get("d"))]
        for path in panel.iter(f"{{{SVG}}}path")
        if style in (path.get("style") or "")
    ]
