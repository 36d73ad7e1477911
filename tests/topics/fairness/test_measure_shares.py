"""Each flow's share while all were sending: Jain's index as its authors define it, odd runs."""

import pandas as pd
import pyarrow.parquet
import pytest

import share_studies
from figure_parts.captions import MOST_WORDS, render_caption
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import FLOWS
from study_files.study import resolve
from study_files.study_design import StudyDesign
from tcp_models.fairness_index import jain_index
from tidy_tables import completed
from topics.fairness.flow_shares import paths_alike, position_of, two_sided_runs
from topics.fairness.measure_shares import add_shares, shares_of_flows
from topics.fairness.topic import TOPIC
from topics.outline import figure_params


@pytest.mark.parametrize(
    ("shares", "index"),
    [
        # Jain, Chiu and Hawe (1984), DEC-TR-301: of n users k get the same and the others nothing, which is
        # k/n, whatever is given out; their case of 20 dollars among 100 people at 1 dollar each is 0.2.
        ([1.0] * 20 + [0.0] * 80, 0.20),
        ([0.1] * 10, 1.0),
        ([5.0] * 3 + [0.0], 0.75),
        # And from the formula: (1 + 3)^2 / (2 (1 + 9)).
        ([1.0, 3.0], 0.8),
        ([1, 2, 3], 36 / (3 * 14)),
        ([0, 0], 1),
    ],
)
def test_index_of_the_authors_examples(shares, index):
    assert jain_index(shares) == pytest.approx(index)
    # Scale independence, and population size independence, two of the properties that they ask for.
    assert jain_index([7 * share for share in shares]) == pytest.approx(index)
    assert jain_index(shares * 2) == pytest.approx(index)


@pytest.fixture
def sockets(tmp_path):
    return tmp_path / "sockets.parquet"


def test_shares_of_a_study_are_those_that_were_drawn():
    study = share_studies.sharing_study(replications=2)
    shares = shares_of_flows(study["runs"], completed(study["flows"], FLOWS))
    drawn = study["flows"]["goodput_mbps"] / study["flows"].groupby(RUN)["goodput_mbps"].transform("sum")
    assert shares["share"].to_numpy() == pytest.approx(drawn.to_numpy())
    assert shares.groupby(RUN)["first"].sum().eq(1).all()


def test_series_are_read_run_by_run_however_they_are_cut(sockets, tmp_path):
    study = share_studies.sharing_study(mixes=["reno+cubic", "cubic+reno"], replications=2)
    cut = tmp_path / "cut.parquet"
    share_studies.write_sockets(study["flows"], sockets)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(sockets), cut, row_group_size=17)
    whole = dict(series_of_runs(sockets, ["flow", "time_s"]))
    parts = dict(series_of_runs(cut, ["flow", "time_s"]))
    assert list(whole) == list(parts) and len(whole) == 20
    for run, rows in whole.items():
        pd.testing.assert_frame_equal(rows, parts[run])
    assert list(dict(series_of_runs(cut, ["flow"], {run}))) == [run]


def test_a_run_with_a_missing_goodput_has_no_shares():
    study = share_studies.sharing_study(mixes=["reno+cubic"], replications=2)
    study["flows"].loc[0, "goodput_mbps"] = None
    shares = add_shares(study["flows"])
    assert shares.loc[:1, ["share", "jain_index"]].isna().all(axis=None)
    assert shares.loc[2:, "share"].notna().all()


def test_positions_of_mixes_and_of_single_ccas():
    flows = pd.DataFrame({"cca": ["a+b"] * 4 + ["a+b+c"] * 3 + ["a"] * 2, "flow": [0, 1, 2, 3, 0, 1, 2, 0, 1]})
    flows = flows.assign(scenario="s", ip_version="ipv4", replication=1)
    assert list(position_of(flows)) == [0, 1, 0, 1, 0, 1, 2, 0, 1]


def test_flows_of_other_groups_have_no_part_in_a_mix():
    """The BBR flow of a separate group has the first number. It isn't the mix's Reno flow, and counts for no CCA of the mix."""
    study = share_studies.sharing_study(["reno+cubic"], share_studies.scenarios().iloc[:1], replications=2, noise=0)
    flows = completed(study["flows"], FLOWS).assign(group="own")
    bbr = flows[flows["flow"] == 0].assign(group="beside", flow_cca="bbr", goodput_mbps=5.0)
    bbr = bbr.assign(under_test=False)
    both = pd.concat([bbr, flows.assign(flow=flows["flow"] + 1)]).sort_values([*RUN, "flow"])
    shares = shares_of_flows(study["runs"], both)
    assert list(shares["flow_cca"]) == ["reno", "cubic"] * 2 and list(shares["position"]) == [0, 1] * 2
    assert shares["share"].to_numpy() == pytest.approx(shares_of_flows(study["runs"], flows)["share"].to_numpy())
    (pair,) = two_sided_runs(shares)[["first_cca", "second_cca"]].drop_duplicates().to_numpy().tolist()
    assert pair == ["reno", "cubic"]


def test_groups_that_arent_part_of_a_mix():
    groups = [
        {"name": "beside", "cca": "bbr", "stop_s": 10},
        {"name": "back", "stop_s": 10, "direction": "reverse"},
        {"name": "mix", "count": 2, "stop_s": 10},
        {"name": "web", "application": "web", "cca": "cubic", "count": 2, "bytes": 1000},
    ]
    scenarios = [{"id": name, "link": {"rate_mbps": 10, "delay_ms": 10}} for name in ("plain", "groups")]
    scenarios = [scenarios[0] | {"flows": 2}, scenarios[1] | {"flows": groups}]
    made = resolve({"study": "s", "ccas": ["reno+cubic"], "scenarios": scenarios}, "s.yaml")
    assert StudyDesign(made).other_groups == {"groups": ["beside", "back"]}


def test_paths_are_alike_by_design_and_not_by_result():
    study = share_studies.sharing_study(mixes=["reno+cubic"], replications=2)
    shares = add_shares(study["flows"])
    names = share_studies.scenarios()["scenario"]
    assert paths_alike(shares) == {name: name != "ratio-4" for name in names}


def test_three_flows_on_two_positions_are_not_alike_and_count_by_flow():
    places = share_studies.scenarios(flows=3).iloc[:1]
    study = share_studies.sharing_study(["reno+cubic"], places, replications=2, noise=0)
    shares = add_shares(study["flows"]).assign(valid=True, scenario_label="base", resolution_mbps=0.0)
    assert paths_alike(shares) == {"base": False}
    runs = two_sided_runs(shares)
    # A flow of CUBIC gets exp(0.7) times what one of Reno gets, though Reno has two of the three.
    assert runs["balance"].to_numpy() == pytest.approx(-0.7)


@pytest.mark.parametrize(("flows", "two"), [([2, 2], True), ([2, 3], False), ([4], False)])
def test_captions_say_what_a_pair_of_more_than_two_flows_is(root, flows, two):
    """Of three flows, two have the CCA that is named first, whose share is that of one of them."""
    scenarios = [{"id": f"s{number}", "flows": count} for number, count in enumerate(flows)]
    study = {"study": "s", "ccas": ["reno+cubic"], "scenarios": scenarios}
    design = StudyDesign(resolve(study, "s.yaml"))
    captions = {
        figure.slug: render_caption(
            root / "workflow/scripts/topics/fairness" / f"captions/{figure.caption}.rst",
            figure_params(figure, design, {"confidence": 0.95, "significance": 0.05}),
        )
        for figure in TOPIC.figures(design)
    }
    assert captions["fairness-shares"].startswith("Share that the row's CCA takes") == two
    assert captions["fairness-shares"].startswith("Mean goodput of a flow with the row's CCA, divided by") != two
    assert ("0.5 if one gets all" in captions["fairness-jain"]) == two
    assert ("1 divided by the number of flows if one gets all" in captions["fairness-jain"]) != two
    factors = captions.get("fairness-factors-reno", "")
    assert ("the mean goodput of its flows" in factors) == (len(flows) > 1 and not two)
    assert all(len(words.partition("\n\n")[0].split()) <= MOST_WORDS for words in captions.values())
