"""The scenarios of a study, column by column (`tidy_rows.scenario_row`)."""

from run_tables.condition_columns import APPLICATION_COLUMNS, DISCIPLINE_COLUMNS
from run_tables.run_keys import NO_DISCIPLINE
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column, truth_column

SCENARIOS = Table(
    "scenarios",
    "a scenario",
    (
        text_column("scenario", "Its identifier."),
        text_column("label", "Its short name."),
        text_column("conditions", "Its conditions in words: what the path can carry, RTT, loss, flows, and all else that the study's scenarios differ in. No two scenarios have the same."),
        number_column("rate_mbps", "Mbit/s", "Rate of the bottleneck, of each on several paths.", "nothing limits the rate"),
        *(
            number_column(f"capacity_{name}_mbps", "Mbit/s", f"The {name} that the path can carry at any time in the data's direction, by its rate, timeline or trace, a policer and outages; all paths together, of a chain the narrowest bottleneck's.", "nothing limits the rate")
            for name in ("least", "most")
        ),
        number_column("rtt_path_ms", "ms", "RTT of the empty path, the mean over pairs of hosts and paths."),
        number_column("delay_forward_ms", "ms", "One-way delay in the data's direction, the hosts' own links aside; of a chain all of it."),
        number_column("delay_reverse_ms", "ms", "One-way delay in the acknowledgements' direction."),
        number_column("jitter_forward_ms", "ms", "Jitter in the data's direction."),
        number_column("jitter_reverse_ms", "ms", "Jitter in the other direction."),
        number_column("loss_forward_percent", "%", "Random loss in the data's direction."),
        number_column("loss_reverse_percent", "%", "Random loss in the other direction."),
        text_column("queue", "Limit of the bottleneck's queue as the study has it: `33 packets`, `1 BDP`, `100000 bytes`."),
        text_column(
            "queue_packets", "The same in packets, as it was set in the runs; where the packets of IPv4 and IPv6 differ, so may these, parted by blanks.",
            "its limit is in bytes",
        ),
        *DISCIPLINE_COLUMNS,
        text_column("queue_parameters", "The discipline's parameters as a study has them: `target_ms 5, ecn true`; `null` is one that it does without.", NO_DISCIPLINE),
        count_column("flows", "", "Number of flows."),
        text_column("groups", "Its groups of flows: `web, call, long bbr`, each with its CCA if that is not the run's.", "all flows are alike"),
        number_column("bitrate_mbps", "Mbit/s", "Rate of each flow's sender: TCP sends at most so much, UDP just so much.", "TCP sends as fast as it can, and each flow of UDP at the rate of all paths together"),
        number_column("duration_s", "s", "How long each flow sends, where no amount is set."),
        text_column("platform", "What carries the packets: `uml`, `host`, or `ns3:` and a version."),
        truth_column("segmentation_offload", "Whether hosts hand super-packets of up to 64 KiB to the network."),
        text_column("netem", "Where delay and loss stand: `receiving-side` or `both-ends`."),
        text_column("processes", "Of iperf3: `per-flow` or `single`."),
        *APPLICATION_COLUMNS,
        count_column("cross_flows", "", "Number of flows over each single bottleneck; `flows` has them too.", "there is no chain"),
        text_column("cross_cca", "CCA of these flows.", "it is the run's own"),
        text_column("chain_rtts_ms", "RTTs of the empty paths of a chain in ms, parted by blanks: of its long flows, then of the cross flows of each bottleneck.", "there is no chain"),
        text_column("distribution", "What tunnels share: packets (`round-robin`) or connections (`per-flow`)."),
        text_column("path_delay_ms", "Delay of each path's own in ms, one way, parted by blanks."),
        ordinal_column("outage_path", "Number of the path that goes down, from 1.", "none does"),
        number_column("outage_at_s", "s", "When it goes down, from the traffic's origin.", "none does"),
        number_column("outage_for_s", "s", "How long it is down.", "none does"),
        count_column("messages", "messages", "That each flow sends.", "a duration is set"),
        count_column("file_bytes", "bytes", "Size of the file that is transferred.", "the application is another"),
        number_column("frame_overhead_bytes", "bytes", "That each frame takes besides those that Linux counts."),
        text_column("serialisation", "Whether a packet takes its length over the rate to arrive: `never` or `virtual-clock`."),
        count_column("pairs", "", "Number of pairs of hosts."),
        text_column("access_delay_ms", "Distinct one-way delays of the hosts' own links in ms, parted by blanks."),
        number_column("start_within_ms", "ms", "Flows start at random moments within this time.", "it is the empty path's RTT"),
        number_column("sample_interval_ms", "ms", "How often sockets and queue are read.", "they are not"),
        number_column("segment_bytes", "bytes", "TCP's limit of a segment.", "the kernel chooses"),
        truth_column("delayed_acks", "Whether the receivers acknowledge every second segment."),
        truth_column("receive_buffer_autotuning", "Whether the receivers' buffers grow as data arrive, or have their full size from the start."),
        number_column("min_rto_ms", "ms", "Smallest retransmission timeout.", "the kernel's own"),
        text_column("recovery", "How TCP recovers from loss: `prr`, or `classic` in ns-3."),
        text_column(
            "variation", "What is drawn for each replication around these values: `RTT ±1 %, queue ±1 packet`; the runs have theirs.",
            "nothing: all replications have just these",
        ),
        text_column("kernel", "The guest kernel of its runs, with patches and options.", "it is the image's, or CCAs have kernels of their own"),
        text_column("host_options", "What else the hosts' TCP does otherwise than the kernel's own: an initial window, no SACK.", "nothing"),
        text_column("link_options", "What else the link does: changes while traffic flows, a trace, a policer, and options such as losses in bursts or packets that come late.", "nothing"),
        text_column("more", "Further differences between the study's scenarios, which no other column shows.", "nothing"),
    ),
    "tidy",
)  # fmt: skip
