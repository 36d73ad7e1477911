"""Late and duplicated packets in the guest kernel: those that its random numbers give for the seed, and their effect on a receiver."""

import json

from experiment.link_options import OF_NAME
from experiment.specification import RunSpecification
from run_tables.link_option_columns import option_counts
from run_tables.reordering_counts import reordering_counts, waiting_per_late_packet
from testbed.checks.link_option_checks import check_option
from testbed.checks.loss_replay import CERTAIN, random_numbers
from testbed.network.behind_bottleneck import counts

LINK = {"rate_mbps": 20, "delay_ms": {"forward": 20, "reverse": 20}}
#: A datagram each 2 ms.
UDP = {"protocol": "udp", "block_bytes": 1250, "bitrate_mbps": 5, "duration_s": 4}


def fate(seed, late, twice, packets):
    """Return, for the given number of arriving packets, whether each copy is late, in the order in which netem handles them."""
    numbers, fates = random_numbers(seed), []
    for _ in range(packets):
        copies = 1 + bool(twice and round(twice * CERTAIN) >= next(numbers))
        fates.append([late and round((1 - late) * CERTAIN) < next(numbers) for _ in range(copies)])
    return fates


def test_datagrams_are_late_as_the_seed_says_and_are_overtaken_by_those_of_that_time(run):
    """9 ms late and 2 ms apart, a packet is overtaken by the four behind it that aren't late themselves: its reordering extent (RFC
    4737)."""
    document = run(link=LINK | {"reordering": {"percent": 10, "late_ms": 9, "direction": "forward"}}, traffic=UDP)
    came, left, late = counts(document, "forward")
    before = document["links"]["before"]["r2-in1"]["qdiscs"]["netem"]
    earlier = before["packets"] + before["backlog_packets"]
    seed = document["network"]["set"]["qdiscs"]["r2-in1"]["netem"]["seed"]
    model = [any(copies) for copies in fate(seed, 0.1, 0, earlier + came)]
    assert (left, late) == (came, sum(model[earlier:])) and late > 150
    assert option_counts(document)["late_packets"] == late
    # As many of twice the share would not be chance.
    asked = json.loads(json.dumps(document["specification"]).replace('"percent": 10', '"percent": 20'))
    assert not check_option(OF_NAME["reordering"], RunSpecification(asked), document).ok
    netem = document["network"]["read_back"]["interfaces"]["r2-in1"]["qdiscs"]["netem"]
    assert (netem["at_once_percent"], netem["delay_ms"]) == (90, 9)
    # Overtaken is what is late if one of the four behind it isn't. How many packets the connection of iperf3 itself took before the datagrams, nobody counts.
    overtaken = [is_late and not all(model[at + 1 : at + 5]) for at, is_late in enumerate(model)]
    (stream,) = document["traffic"][0]["server"]["end"]["streams"]
    sent = document["traffic"][0]["client"]["end"]["sum"]["packets"]
    possible = [sum(overtaken[at : at + sent]) for at in range(earlier, len(overtaken) - sent + 1)]
    # The server ends with its client's last message, which passes those of the last 40 ms: twenty datagrams.
    least = min(sum(overtaken[at : at + sent - 20]) for at in range(earlier, len(overtaken) - sent + 1))
    assert least - 1 <= stream["udp"]["out_of_order"] <= max(possible) and max(possible) - least < 15


def test_tcp_gets_packets_late_and_twice_and_none_is_lost(run):
    """The receiver reports each packet that TCP gets twice (D-SACK, RFC 2883), and late packets are no losses."""
    link = LINK | {"rate_mbps": 10, "duplicate_percent": {"forward": 2, "reverse": 0}}
    link |= {"reordering": {"percent": 1, "late_ms": 10, "direction": "both"}}
    document = run(link=link, queue={"packets": 400}, traffic={"duration_s": 6, "bitrate_mbps": 5})
    came, left, late = counts(document, "forward")
    names = document["network"]["set"]["qdiscs"]
    before = document["links"]["before"]["r2-in1"]["qdiscs"]
    earlier = document["links"]["before"]["r2-eth1"]["qdiscs"]["ingress"]["packets"]
    model = fate(names["r2-in1"]["netem"]["seed"], 0.01, 0.02, earlier + came)
    assert left + before["netem"]["packets"] == sum(map(len, model))
    assert late == sum(map(sum, model[earlier:]))
    metrics = option_counts(document)
    assert (metrics["late_packets"], metrics["duplicate_packets"]) == (late, left - came)
    tcp = reordering_counts(document)
    assert tcp["reordering_events"] > 0 and document["links"]["after"]["r1-eth1"]["qdiscs"]["pfifo"]["drops"] == 0
    counted = sum(
        count
        for name, count in document["stack"]["tcp"]["h2"].items()
        if name in ("TcpExtTCPDSACKOldSent", "TcpExtTCPDSACKOfoSent")
    )
    # A packet of the handshake that comes twice is none of TCP's data.
    again = document["traffic"][0]["client"]["end"]["sum_sent"]["retransmits"]
    assert metrics["duplicate_packets"] + again - 2 <= counted <= metrics["duplicate_packets"] + again
    # What the path duplicates is no needless retransmission, and nothing tells the two apart.
    assert (tcp["duplicate_segments"], tcp["spurious_retransmits"]) == (counted, None)
    # Sent as fast as the rate allows, packets are 1.2 ms apart: 8 come in 10 ms, fewer where the sender pauses.
    assert 5 < waiting_per_late_packet(document) <= 8.3


def test_what_is_late_beyond_the_rtt_is_retransmitted_for_nothing_and_ends_no_wait(run):
    """In 200 ms far more packets overtake a late one than wait for it: its retransmission comes first, and is needless."""
    document = run(
        link=LINK | {"reordering": {"percent": 1, "late_ms": 200, "direction": "forward"}},
        queue={"packets": 1000},
        traffic={"duration_s": 8},
    )
    counted, late = reordering_counts(document), option_counts(document)["late_packets"]
    assert late > 10 and document["links"]["after"]["r1-eth1"]["qdiscs"]["pfifo"]["drops"] == 0
    retransmitted = document["traffic"][0]["client"]["end"]["sum_sent"]["retransmits"]
    # Nothing was lost: each retransmission was for nothing, but for what was under way at the end.
    assert 0 < retransmitted - 3 <= counted["spurious_retransmits"] == counted["duplicate_segments"] <= retransmitted
    left = document["links"]["after"]["r2-in1"]["qdiscs"]["netem"]["packets"]
    overtaking = left * 0.2 / 8
    assert 1 < waiting_per_late_packet(document) < overtaking
