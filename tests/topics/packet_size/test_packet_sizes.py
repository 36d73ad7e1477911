"""Message sizes: the exact calculation by hand, cells compared with it, and differences between them."""

import math

import pandas as pd
import pytest

import size_studies
from asked_run import asked
from report_page.study_facts import amounts
from run_tables.background_metrics import background_metrics
from size_studies import measure, one
from tcp_models.wire_theory import agrees, clock_allowance_us, frame_bytes, goodput_mbps, round_trip_us
from topics.packet_size.traffic import traffic_of
from wording.scenario_words import amount_words

SIZES = (128, 1408)
PRINTED = {
    "runs": 40, "message_bytes": [128, 1408],
    "values": [
        {"quantity": "goodput_mbps", "protocol": "tcp", "background": "none", "ip_version": "ipv4",
         "mean": [74.1, None], "sd": [1.97, 0.79]},
        {"quantity": "goodput_mbps", "protocol": "tcp", "background": "none", "ip_version": "ipv6",
         "mean": [71.96, None], "sd": [1.97, 0.79]},
        {"quantity": "rtt_mean_ms", "protocol": "udp", "background": "server", "ip_version": "ipv4",
         "sd": [0.09, 0.01]},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "ip_version", "payload", "frame", "goodput", "trip"),
    [
        # 18 of Ethernet's frame with its checksum, 20 of preamble and gap, and the headers of RFC 791 (20), 8200 (40),
        # 768 (8), 9293 and 7323 (32).
        ("udp", "ipv4", 128, 194, 65.9794, 31.04), ("udp", "ipv6", 1408, 1494, 94.2436, 239.04),
        ("tcp", "ipv4", 1448, 1538, 94.1482, 246.08), ("tcp", "ipv6", 1428, 1538, 92.8479, 246.08),
        ("tcp", "ipv4", 128, 218, 58.7156, 34.88),
    ],
)  # fmt: skip
def test_what_a_cable_carries(protocol, ip_version, payload, frame, goodput, trip):
    assert frame_bytes(payload, protocol, ip_version, 24) == frame
    assert goodput_mbps(100, payload, protocol, ip_version, 24) == pytest.approx(goodput, abs=5e-5)
    beside = goodput_mbps(100, payload, protocol, ip_version, 24, background_mbps=1)
    assert beside == pytest.approx(0.99 * goodput, abs=5e-5)
    assert round_trip_us(100, payload, protocol, ip_version, 24) == pytest.approx(trip)
    assert round_trip_us(10, payload, protocol, ip_version, 24) == pytest.approx(10 * trip)


def test_agreement_is_half_a_percent_and_what_the_clock_adds():
    assert agrees(100.49, 100) and agrees(99.51, 100)
    assert not agrees(100.51, 100) and not agrees(99.49, 100)
    assert agrees(36.3, 34.88, clock_allowance_us("tcp")) and not agrees(36.3, 34.88, clock_allowance_us("udp"))
    assert not agrees(34.6, 34.88, clock_allowance_us("tcp"))  # never earlier
    assert (clock_allowance_us("udp"), clock_allowance_us("tcp")) == (pytest.approx(0.512), pytest.approx(1.536))


@pytest.mark.parametrize(
    ("change", "traffic"),
    [
        ({}, "tcp"), ({"segment_bytes": 128.0}, "tcp-segments"), ({"protocol": "udp"}, "udp"),
        ({"application": "round-trip"}, "tcp-rtt"), ({"application": "round-trip", "protocol": "udp"}, "udp-rtt"),
        ({"topology": "dumbbell"}, None), ({"multipath": "gre"}, None), ({"flows": 2}, None),
        ({"application": "ftp"}, None),
    ],
)  # fmt: skip
def test_scenarios_are_told_by_their_traffic(change, traffic):
    plain = {"topology": "cable", "multipath": "none", "flows": 1, "application": "iperf3", "protocol": "tcp"}
    for unset in (None, math.nan):
        assert traffic_of(**({"segment_bytes": unset} | plain | change)) == traffic


@pytest.fixture(scope="module")
def virtual(tmp_path_factory):
    return measure(tmp_path_factory.mktemp("virtual"), size_studies.sizes_study(sizes=SIZES), printed=PRINTED)


def test_every_cell_is_held_against_the_calculation(virtual):
    cells, _ = virtual
    assert len(cells) == 2 * 5 * 2 * 2
    assert set(cells["agrees"]) == {"True"}
    udp = one(cells, traffic="udp", background="none", ip_version="ipv4", message_bytes=128)
    assert udp["calculated"] == pytest.approx(100 * 128 / 194)
    assert udp["difference_percent"] == pytest.approx(-100 * 1e-3 / 3)
    assert udp["sd"] == pytest.approx(udp["calculated"] * 1e-3 * math.sqrt(4 / 9 / 5))
    trip = one(cells, traffic="tcp-rtt", background="none", ip_version="ipv4", message_bytes=128)
    assert trip["excess"] == pytest.approx(1.4, abs=0.02) and trip["unit"] == "µs"
    assert trip["difference_percent"] > 3 and trip["agrees"] == "True"
    # A server's own messages come off what the data get, and may delay a round trip by their share.
    server = one(cells, traffic="udp", background="server", ip_version="ipv4", message_bytes=128)
    assert server["calculated"] == pytest.approx(99.7 * 128 / 194)
    later = one(cells, traffic="tcp-rtt", background="server", ip_version="ipv4", message_bytes=128)
    assert later["allowance"] - trip["allowance"] == pytest.approx(34.88 * (1 / (1 - 0.0035) - 1))


def test_data_of_packets_are_those_that_tcp_made(virtual):
    cells, _ = virtual
    for size in (128, 1408):
        for traffic, ip_version, data in (("tcp", "ipv6", 1428), ("tcp-segments", "ipv4", size)):
            cell = one(cells, traffic=traffic, background="none", ip_version=ip_version, message_bytes=size)
            assert cell["packet_bytes"] == pytest.approx(data, abs=2)
    assert cells.loc[cells["background"] == "server", "packet_bytes"].isna().all()


def test_printed_values_stand_beside_the_cells_that_they_are_of(virtual):
    cells, differences = virtual
    row = one(cells, traffic="tcp", background="none", ip_version="ipv4", message_bytes=128)
    assert (row["printed_mean"], row["printed_sd"]) == (74.1, 1.97)
    trip = one(cells, traffic="udp-rtt", background="server", ip_version="ipv4", message_bytes=128)
    assert trip["printed_sd"] == pytest.approx(90)  # 0.09 ms
    assert cells["printed_sd"].notna().sum() == 6 and cells["printed_mean"].notna().sum() == 2
    apart = one(differences, question="IP version", traffic="tcp", background="none", message_bytes=128)
    assert apart["printed_percent"] == pytest.approx(-2.888, abs=1e-3)


def test_ip_versions_are_compared_in_pairs_and_with_their_headers(virtual):
    _, differences = virtual
    rows = differences[differences["question"] == "IP version"]
    assert len(rows) == 2 * 5 * 2
    udp = one(rows, traffic="udp", background="none", message_bytes=128)
    assert list(udp[["percent", "expected_percent"]]) == pytest.approx([100 * (194 / 214 - 1)] * 2)
    assert udp["ci_low"] <= udp["difference"] <= udp["ci_high"]
    trip = one(rows, traffic="udp-rtt", background="none", message_bytes=128)
    assert trip["expected"] == pytest.approx(3.2)  # 2 x 20 bytes at 100 Mbit/s


def test_environments_are_compared_as_independent(virtual):
    _, differences = virtual
    row = one(differences, question="environment", traffic="udp", ip_version="ipv4", message_bytes=1408)
    assert row["percent"] == pytest.approx(-0.3) and row["expected_percent"] == pytest.approx(-0.3)
    # Welch with n = 6 and equal spreads: t(0.975, 10) = 2.228.
    sd = 1e-3 * math.sqrt(4 / 9 / 5) * row["mean_first"] / (1 - 1e-3 / 3)
    assert row["ci_high"] - row["difference"] == pytest.approx(2.228 * sd * math.sqrt((1 + 0.997**2) / 6), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("own", ["host", "uml"])
def test_platforms_are_compared_whichever_of_the_two_studies_asks(tmp_path, own):
    of_both = {platform: size_studies.sizes_study(platform, sizes=SIZES) for platform in ("host", "uml")}
    measure(tmp_path / "other", of_both["uml" if own == "host" else "host"])
    cells, differences = measure(tmp_path, of_both[own], tmp_path / "other")
    assert cells.loc[cells["metric"] == "rtt_mean_ms", "calculated"].isna().all() == (own == "host")
    rows = differences[differences["question"] == "platform"]
    assert len(rows) == 2 * 5 * 2 * 2
    assert set(rows["first"]) == {"uml"} and set(rows["second"]) == {"host"}
    lost = one(rows, traffic="udp", background="none", ip_version="ipv4", message_bytes=128)
    assert lost["difference"] == pytest.approx(-0.2)
    trip = one(rows, traffic="udp-rtt", background="none", ip_version="ipv4", message_bytes=128)
    assert list(trip[["mean_first", "mean_second"]]) == pytest.approx([31.44, 31.28], rel=1e-3)


def test_background_is_counted_with_its_headers():
    counts = {"requests": 2, "answers": 2, "request_bytes": 100, "answer_bytes": 300, "answer_segments": 2, "served": 2}
    directory = counts | {"answer_bytes": 4000, "answer_segments": 3}
    document = {
        "specification": asked({"link": {"frame_overhead_bytes": 24}}, ip_version="ipv4"),
        "background": {"dns": counts, "dhcp": counts, "directory": directory},
        "traffic": [{"round_trip": {"seconds": 2.0}}],
    }
    metrics = background_metrics(document)
    assert (metrics["background_requests"], metrics["background_answers"]) == (6, 6)
    # UDP: 300 + 2 x 66, twice; TCP: 4000 + 3 x 90; over 2 s.
    assert metrics["background_mbps"] == pytest.approx((2 * 432 + 4270) * 8e-6 / 2)
    assert metrics["background_back_mbps"] == pytest.approx((2 * (100 + 2 * 66) + 100 + 2 * 90) * 8e-6 / 2)
    assert set(background_metrics({}).values()) == {None}


@pytest.mark.parametrize(
    ("change", "words"), [({}, "10 s"), ({"messages": 1e6}, "1,000,000 messages"), ({"file_bytes": 5e7}, "50 MB")]
)
def test_amounts_are_told_in_their_own_unit(change, words):
    assert amount_words({"duration_s": 10.0, "messages": math.nan, "file_bytes": math.nan} | change) == words


def test_amounts_of_a_study_are_told_once():
    table = pd.DataFrame({"duration_s": [2.0, 1.0, 2.0], "messages": math.nan, "file_bytes": math.nan})
    assert amounts(table) == "1 or 2 s"
    assert amounts(table.assign(messages=[math.nan, math.nan, 500])) == "1 s or 2 s or 500 messages"
