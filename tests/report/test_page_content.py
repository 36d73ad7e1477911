"""What the page holds, read without a browser."""

import json
import re
from html.parser import HTMLParser

import jinja2
import number_format
import pandas as pd
import pytest
import tidy_tables
import write_report
from scenario_words import conditions


class Outline(HTMLParser):
    """Collect headings, identifiers, links within the page, and everything that could load."""

    def __init__(self):
        super().__init__()
        self.headings, self.ids, self.targets, self.loads, self.tables = [], [], [], [], 0
        self.captions = 0

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("href", "src", "xlink:href", "srcset", "data", "action"):
            value = values.get(name)
            if value and value.startswith("#"):
                self.targets.append(value[1:])
            elif value and value != "data:,":
                self.loads.append((tag, name, value))


@pytest.fixture(params=["real_shape", "small", "all_ccas", "nothing_valid"])
def outline(request):
    parser = Outline()
    parser.feed(request.getfixturevalue(request.param).page.read_text())
    return parser


def test_page_loads_nothing_and_its_links_lead_somewhere(outline):
    assert outline.loads == []
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.targets) <= set(outline.ids)


def test_style_loads_nothing(small):
    style = re.search(r"<style>(.*?)</style>", small.page.read_text(), re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_structure_is_sound(outline):
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)
    assert outline.tables == outline.captions > 4


def test_every_cell_has_its_row(real_shape):
    html = real_shape.page.read_text()
    rows = re.findall(r'<tr><th scope="row">\w+</th><td>IPv[46]', html)
    assert len(rows) == 12 * 6 * 2 * 4


def test_excluded_runs_are_listed_with_their_reason(real_shape):
    runs = pd.read_csv(real_shape.folder / "tidy" / "runs.csv", keep_default_na=False)
    html = real_shape.page.read_text()
    excluded = runs[~runs["valid"]]
    assert len(excluded) > 3
    for run in excluded.to_dict("records"):
        name = "/".join(str(run[key]) for key in ("scenario", "cca", "ip_version", "replication"))
        assert f"<code>{name}</code></th><td class=\"words\">{run['invalid_because']}" in html
    assert f"{len(runs) - len(excluded)} of 720 runs are valid" in html


def test_commands_name_study_file_and_document(small):
    html = small.page.read_text()
    document = "results/synthetic/runs/100mbit-10ms-1pct-1flow/reno/ipv4/1.json.gz"
    assert (
        "snakemake --cores 1 --use-apptainer --configfile config/studies/synthetic.yaml "
        f"--force {document}"
    ) in html
    assert f"sha256sum {document}" in html


def test_default_study_needs_no_file_and_a_published_sum_is_checked():
    run = {"scenario": "a", "cca": "reno", "ip_version": "ipv4", "replication": 1}
    commands = write_report.rerun_commands("s", run, "config/config.yaml", "f" * 64)
    assert commands[0].startswith("snakemake --cores 1 --use-apptainer --force results/s/runs/a/")
    assert commands[1] == (
        f"echo '{'f' * 64}  results/s/runs/a/reno/ipv4/1.json.gz' | sha256sum --check"
    )
    odd = write_report.rerun_commands("s", run, "my studies/a;b.yaml", None)
    assert "--configfile 'my studies/a;b.yaml'" in odd[1]


def test_provenance_names_what_ran(small):
    text = small.page.read_text()
    provenance = json.loads((small.folder / "tidy" / "provenance.json").read_text())
    environment = provenance["environments"][0]
    for value in (environment["kernel"], environment["image_digest"], environment["iperf3_version"],
                  environment["kernel_config_sha256"], provenance["workflow"]["commit"]):
        assert value in text  # fmt: skip


def test_uncommitted_changes_and_several_environments_are_said(build):
    study = tidy_tables.synthetic_study(tidy_tables.grid((10,), (0,), (1,)), ["reno"])
    first = study["provenance"]["environments"][0]
    study["provenance"]["environments"] = [first, {**first, "kernel": "6.16.1", "extra": None}]
    study["provenance"]["workflow"] |= {"commit": None, "dirty": True}
    html = build(study).page.read_text()
    assert "made in 2 different ones" in html
    assert "6.16.1" in html
    assert "<dt>Commit</dt><dd>not recorded</dd>" in html
    study["provenance"]["workflow"]["commit"] = "a" * 40
    assert "with changes that were not committed" in build(study).page.read_text()


def test_same_inputs_same_page(small):
    before = small.page.read_bytes()
    small.write_page()
    assert small.page.read_bytes() == before


def test_caption_is_filled_and_a_misspelt_value_is_an_error(tmp_path):
    caption = tmp_path / "caption.rst"
    caption.write_text("{{ snakemake.params.replications }} runs\nin each cell.\n")
    assert write_report.render_caption(caption, {"replications": 7}) == "7 runs in each cell."
    caption.write_text("{{ snakemake.params.repetitions }}")
    with pytest.raises(jinja2.UndefinedError):
        write_report.render_caption(caption, {"replications": 7})


def test_foreign_figure_is_refused(small, tmp_path):
    from report_figures import inline_panels

    path = tmp_path / "goodput.svg"
    path.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    with pytest.raises(ValueError, match="goodput.svg: no <view>"):
        inline_panels(path, "goodput")
    path.write_text("<svg")
    with pytest.raises(ValueError, match="goodput.svg: not an SVG file"):
        inline_panels(path, "goodput")
    text = small.figure("goodput").read_text()
    path.write_text(text.replace('<g id="patch_2">', '<g id="patch_2"><script>1</script>'))
    with pytest.raises(ValueError, match="holds <script>"):
        inline_panels(path, "goodput")


@pytest.mark.parametrize(
    "value, shown",
    [(935.5321, "935.5"), (3.5617, "3.562"), (0.99876, "0.999"), (0.0011904, "0.0012"),
     (12345.6, "12,346"), (0, "0"), (None, "–"), (float("nan"), "–"), (-0.0, "0")],
)  # fmt: skip
def test_numbers_as_shown(value, shown):
    assert number_format.number(value) == shown


def test_small_numbers_as_shown():
    assert number_format.interval(931.21, 935.66, 933.4) == "931.2 to 935.7"
    assert number_format.p_value(0.00004) == "< 0.001"
    assert [number_format.tick(v) for v in (0, 0.01, 1000, 20000, 3e6)] == [
        "0", "0.01", "1,000", "20k", "3M"
    ]  # fmt: skip


def test_conditions_in_words():
    scenario = tidy_tables.grid((10,), (1,), (1,)).to_dict("records")[0]
    assert conditions(scenario) == "1 Gbit/s, 10 ms, 1 % loss, 1 flow"
    scenario |= {"rate_mbps": float("nan"), "delay_reverse_ms": 5, "loss_reverse_percent": 1}
    assert conditions(scenario) == "no rate limit, 10 ms / 5 ms, 1 % loss both ways, 1 flow"
