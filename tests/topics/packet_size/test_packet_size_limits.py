"""Message sizes under conditions unlike the paper's: several CCAs and rates, cells without a value, other traffic."""

from types import SimpleNamespace

import pandas as pd
import pytest

import size_studies
from size_studies import measure, one
from study_files.study import resolve
from study_files.study_design import StudyDesign
from tidy_tables import ANALYSIS
from topics.outline import study_outline
from topics.packet_size.plot_size_differences import draw_differences
from topics.packet_size.plot_sizes import draw_sizes
from topics.packet_size.section import findings, pairs_words, section
from topics.packet_size.sentences import (
    environment_sentence,
    ip_version_sentence,
    messages_joined,
    sent_sentence,
    sentences,
)
from topics.packet_size.size_cells import FAILED_CHECK
from topics.packet_size.tables import SIZE_CELLS, SIZE_DIFFERENCES
from topics.packet_size.topic import compares_sizes_alone, message_sizes
from topics.packet_size.traffic import network_words

SATURATED = (
    "cpu_saturation: core 0 (senders) up to 100.0 % busy, 0.0 % stolen; core 1 (receivers, program) up to 62.2 % busy, "
    "0.0 % stolen, expected at most 95 % busy in any second, at most 5 % stolen"
)


def material(cells, differences):
    return SimpleNamespace(
        tables=SimpleNamespace(size_cells=cells, size_differences=differences), params={"analysis": ANALYSIS}
    )


@pytest.mark.slow
def test_cells_of_other_ccas_and_rates_are_not_mixed_up(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408), ccas=("cubic", "reno"), rates=(100, 1000))
    runs = study["runs"]
    runs.loc[runs["cca"] == "reno", "goodput_mbps"] *= 0.9
    # A pair that lacks one side must not be completed from another CCA's.
    lost = runs[["scenario", "cca", "ip_version", "replication"]].eq(["p2p-udp-128", "reno", "ipv6", 1]).all(axis=1)
    runs.loc[lost, "valid"] = False
    cells, differences = measure(tmp_path, study)
    assert len(cells) == 2 * 2 * 2 * 5 * 2 * 2
    ip = differences[differences["question"] == "IP version"]
    assert len(ip) == 2 * 2 * 2 * 5 * 2
    for cca, rate in (("cubic", 100), ("reno", 100), ("cubic", 1000), ("reno", 1000)):
        row = one(ip, traffic="udp", background="none", message_bytes=128, cca=cca, rate_mbps=rate)
        assert row["percent"] == pytest.approx(100 * (194 / 214 - 1), rel=2e-3), (cca, rate)
        environments = differences[differences["question"] == "environment"]
        server = one(environments, traffic="udp", ip_version="ipv4", message_bytes=128, cca=cca, rate_mbps=rate)
        assert server["percent"] == pytest.approx(-30 / rate, rel=1e-6)
    networks = ["cubic, 100 Mbit/s", "reno, 100 Mbit/s", "cubic, 1 Gbit/s", "reno, 1 Gbit/s"]
    assert list(network_words(cells).values()) == networks
    figures = [draw_sizes(cells[cells["traffic"] == "udp"], "Throughput"), draw_differences(differences)]
    assert [len(figure.panels) for figure in figures] == [2 * 4, 5 * 4]  # environments x networks, traffic x networks
    page = section(material(cells, differences))
    headings = ["Traffic", "Environment", "IP", "CCA", "Rate, Mbit/s", "Bytes"]
    assert [column.heading for column in page["cells"]["columns"]][:6] == headings
    assert [cell.text for cell in page["cells"]["rows"][0]][3:5] == ["CUBIC", "100"]


def test_scenarios_that_are_alike_are_not_compared(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408))
    study["scenarios"]["message_bytes"] = 128
    study["runs"]["message_bytes"] = 128
    alike = "traffic, background, platform, message_bytes, cca, rate_mbps"
    with pytest.raises(ValueError, match=f"p2p-tcp-128 and p2p-tcp-1408 are alike in {alike};"):
        measure(tmp_path, study)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("scenarios", {"bitrate_mbps": 10}), ("scenarios", {"loss_forward_percent": 1}),
        ("scenarios", {"jitter_reverse_ms": 0.5}), ("runs", {"rtt_path_ms": 2}),
    ],
)  # fmt: skip
def test_where_headers_alone_say_nothing_nothing_is_calculated(tmp_path, table, change):
    study = size_studies.sizes_study(sizes=(128, 1408))
    study[table] = study[table].assign(**change)
    cells, differences = measure(tmp_path, study)
    assert cells["calculated"].isna().all() and set(cells["agrees"]) == {""}
    assert not {"Headers"} & {finding.topic for finding in sentences(cells, differences, 0.5)}
    assert section(material(cells, differences))["uncalculated"]


def test_a_host_in_the_text_of_a_check_is_no_check():
    why = "host_settings: h2: tcp_rmem is 4096; h1: tcp_rmem is 4096, expected 8192; clock: late"
    assert FAILED_CHECK.findall(why) == ["host_settings", "clock"]


@pytest.mark.slow
def test_cells_that_could_not_be_measured_are_counted_and_named(tmp_path):
    """Under a real clock, the smallest UDP packets saturated a core and, in one environment, made it late."""
    study = size_studies.sizes_study("host", sizes=(128, 1408))
    runs = study["runs"]
    late = f"{SATURATED}; clock: 99 % at most 45.842 ms late, all at most 45.842 ms late, expected 99 % of wake-ups at most 10 ms late, all at most 100 ms late"
    for scenario, why in (("p2p-udp-128", SATURATED), ("cs-udp-128", late)):
        runs.loc[runs["scenario"] == scenario, ["valid", "invalid_because"]] = [False, why]
    measure(tmp_path / "virtual", size_studies.sizes_study(sizes=(128, 1408)))
    cells, differences = measure(tmp_path, study, tmp_path / "virtual")
    empty = cells["mean"].isna()
    failed = cells.loc[empty].groupby("scenario")["failed_checks"].unique().explode()
    assert failed.to_dict() == {"p2p-udp-128": "cpu_saturation", "cs-udp-128": "cpu_saturation clock"}
    assert set(cells.loc[~empty, "failed_checks"]) == {""}
    assert set(cells.loc[empty, "n"]) == {0} and set(cells.loc[empty, "agrees"]) == {""}
    sentence_of = {finding.topic: finding.text for finding in findings(material(cells, differences))}
    both = "(UDP of 128 bytes: a core was saturated or the clock ran late)"
    assert f"4 of 24 such cells have no valid run {both}" in sentence_of["Headers"]
    kernel = sentence_of["Kernel"]
    assert "throughput in the 10 of 12 cells that have a value is at worst 0." in kernel
    why = "(UDP of 128 bytes: a core was saturated)"
    assert f"the others have no valid run {why}, so the difference there is unknown" in kernel
    of_ip_versions = differences[differences["question"] == "IP version"]
    assert pairs_words(of_ip_versions) == "18 pairs of cells, and 2 without a valid run on one side"
    assert set(of_ip_versions.loc[of_ip_versions["percent"].isna(), "note"]) == {"no valid run on one side"}


def differences_of(**columns):
    """Return rows of size_differences.csv under a real clock."""
    rows = pd.DataFrame(columns).reindex(columns=SIZE_DIFFERENCES.names)
    return rows.assign(platform="host", background="none", unit="µs", traffic="udp-rtt")


def test_a_difference_within_the_spread_is_not_called_a_cost():
    rows = differences_of(question="environment", percent=[-13.7, 15.27, 2.0])
    assert environment_sentence(rows) == (
        "A server that also answers DNS, DHCP and LDAP requests, compared with no server: round trips (−13.70 to 15.27 % in "
        "3 cells) can't be distinguished from the variation between runs, because there is no interval. "
        "The server's load comes from the model."
    )
    rows = rows.assign(ci_low=[-9.0, 1.0, -1.0], ci_high=[9.0, 4.0, 3.0])
    told_apart = "excludes 0 in 1 of 3 cells for round trips (15.27 % there); elsewhere the difference can't be distinguished from the variation"
    assert told_apart in environment_sentence(rows)
    rows = rows.assign(question="IP version", expected=[3.2, 3.2, 3.2], mean_first=[600.0, 600.0, 20.0])
    assert ip_version_sentence(rows, 0.5) == (
        "IPv6 against IPv4: the interval of the difference excludes 0 in 1 of 3 cells for round trips (15.27 % there); "
        "elsewhere the difference can't be distinguished from the variation between runs. The 20 additional header bytes are shown to explain the difference "
        "within ±0.5 % in 1 of 3 cells, and shown not to explain it in 1."
    )


@pytest.mark.parametrize(
    ("small", "words", "joined"),
    [
        (
            1446.0,
            "1,446 bytes of data on average, so the size of messages hardly matters on the cable: 94.1 Mbit/s",
            True,
        ),
        (128.2, "128 bytes of data on average (1.0 messages each): 94.1 Mbit/s", False),
    ],
)
def test_what_is_said_of_packets_is_what_was_sent(small, words, joined):
    cells = pd.DataFrame({"message_bytes": [128.0, 1408.0], "packet_bytes": [small, 1446.0], "mean": 94.1}).assign(
        traffic="tcp", background="none", ip_version="ipv4", cca="cubic", rate_mbps=100.0
    )
    assert f"in packets of {words}" in sent_sentence(cells)
    assert messages_joined(cells) is joined


def test_no_cell_is_no_sentence():
    empty = pd.DataFrame(columns=SIZE_CELLS.names), pd.DataFrame(columns=SIZE_DIFFERENCES.names)
    assert findings(material(*empty)) == [] and section(material(*empty)) is None


CABLE = {"topology": "cable", "link": {"rate_mbps": 100, "delay_ms": 0}, "queue": {"packets": 1000}}
SMALL, LARGE = ({"id": f"tcp-{size}", "traffic": {"block_bytes": size}} for size in (128, 1408))


@pytest.mark.parametrize(
    ("scenarios", "sizes", "by_size"),
    [
        ([SMALL, LARGE], 2, True),
        # Several flows have no size of their own, nor has a file.
        ([SMALL | {"flows": 2}, LARGE | {"flows": 2}], 0, False),
        # Beside other scenarios sizes have their section, and the CCAs keep theirs.
        ([SMALL, LARGE, {"id": "joined", "multipath": {"by": "mptcp", "paths": 2}}], 2, False),
        ([SMALL, LARGE | {"multipath": {"by": "mptcp", "paths": 2}}], 1, False),
        # What differs besides the size is what such a study is about.
        ([SMALL, LARGE, LARGE | {"id": "late", "link": {"delay_ms": 5}}], 0, False),
    ],
)
def test_what_is_compared_by_size(scenarios, sizes, by_size):
    study = {"study": "a", "ccas": ["cubic", "reno"], "ip_versions": ["ipv4"], "defaults": CABLE}
    of_study = study_outline(StudyDesign(resolve(study | {"scenarios": scenarios}, "a.yaml")))
    tables = {table.name for table in of_study.tables}
    assert len(set(message_sizes(of_study.design).values())) == sizes
    assert compares_sizes_alone(of_study.design) == by_size
    assert ("size_cells" in tables) == (sizes > 1)
    assert ("ccas" in tables) == (not by_size)


def test_a_cell_with_outliers_has_no_interval_of_a_difference(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408))
    runs = study["runs"]
    place = {"scenario": "cs-udp-128", "cca": "cubic", "ip_version": "ipv4"}
    collapsed = (runs[list(place)] == list(place.values())).all(axis=1) & (runs["replication"] == 2)
    runs.loc[collapsed, "goodput_mbps"] *= 0.3
    cells, differences = measure(tmp_path, study)
    assert one(cells, **place)["outliers"] == 1 and cells["outliers"].sum() == 1
    of = {"traffic": "udp", "message_bytes": 128, "question": "environment"}
    row = one(differences, ip_version="ipv4", **of)
    assert pd.isna(row["ci_low"]) and row["note"] == "1 of 12 runs is an outlier: no interval of the mean"
    assert one(differences, ip_version="ipv6", **of)["ci_low"] < 0


def test_incomplete_pairs_are_counted(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408), replications=8)
    runs = study["runs"]
    lost = (runs["scenario"] == "p2p-udp-128") & (runs["ip_version"] == "ipv6")
    of = {"traffic": "udp", "message_bytes": 128, "background": "none", "question": "IP version"}
    runs.loc[lost & (runs["replication"] <= 2), "valid"] = False
    row = one(measure(tmp_path, study)[1], **of)
    assert row["note"] == "2 of 8 pairs are incomplete" and pd.notna(row["ci_low"])
    runs.loc[lost & (runs["replication"] <= 4), "valid"] = False
    row = one(measure(tmp_path, study)[1], **of)
    assert row["note"] == "4 of 8 pairs are incomplete; 4 runs: an interval needs 6" and pd.isna(row["ci_low"])
    runs.loc[
        (runs["scenario"] == "p2p-udp-128") & (runs["ip_version"] == "ipv4") & (runs["replication"] > 4), "valid"
    ] = False
    row = one(measure(tmp_path, study)[1], **of)
    assert row["note"] == "none of 8 pairs is complete" and pd.isna(row["ci_low"])


def test_only_round_trips_that_agree_are_explained_by_the_clock_and_only_measured_sizes_are_all_sizes(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408), replications=1)
    runs = study["runs"]
    runs.loc[runs["scenario"] == "p2p-udp-rtt-128", "rtt_mean_ms"] += 0.3
    runs.loc[(runs["scenario"] == "p2p-udp-128") & (runs["ip_version"] == "ipv6"), "valid"] = False
    texts = {finding.topic: finding.text for finding in sentences(*measure(tmp_path, study), 0.1)}
    assert texts["Headers"].startswith("In 37 of 39 cells the mean agrees")
    assert "a round trip that agrees takes 0.40 to 1.40 µs more than the cable needs" in texts["Headers"]
    assert texts["IP version"].startswith(
        "IPv6 against IPv4, over 19 pairs of cells (others without a valid run: 1): TCP, messages"
    )
