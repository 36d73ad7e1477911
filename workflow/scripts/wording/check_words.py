"""The checks of a run in words: what each is about, and what it means that a run fails it."""

#: Name of a check -> what it is about, and what is so of a run that fails it.
CHECK_WORDS = {
    "acknowledgements": ("acknowledgements of single segments", "The receiver acknowledged fewer segments one by one than it should have without delayed acknowledgements."),
    "background": ("the background traffic", "The background traffic was not what was asked for, or got no answers."),
    "buffers": ("what buffers held back", "A socket's buffer held a flow back that should have been limited by its window or the path alone, so its goodput is that of a buffer."),
    "carried_out": ("completion", "The run did not come to its end; the reason is that of the step that failed."),
    "cca": ("the CCA that ran", "A connection ran another congestion control algorithm than the one that is compared, so its numbers are those of another one."),
    "clock": ("the clock", "The real clock was too late to be relied on."),
    "conservation": ("the count of packets", "Packets came to a bottleneck's queue that neither left it, nor were dropped, nor wait there."),
    "corruption": ("damaged packets", "Another share of the packets came damaged than was asked for, beyond chance."),
    "cpu_saturation": ("the load of the cores", "A core had no time left, so the machine, not the network, may have limited the flows."),
    "datagrams": ("the count of datagrams", "Datagrams are missing that no counter accounts for, so shares of loss are not known."),
    "delay": ("the delay of single packets", "Single packets after the traffic took another delay than was asked for, or lacked its jitter, late packets or bunches."),
    "drops_elsewhere": ("drops elsewhere", "Packets were dropped in a place that has no part in the study, so losses are not those of the path."),
    "duplicates": ("duplicates", "Another share of the packets came twice than was asked for, beyond chance."),
    "duration": ("the duration", "A flow sent for another time than it should have."),
    "ecn": ("the negotiation of ECN", "A connection did not negotiate ECN as the study says."),
    "exchanges": ("the count of exchanges", "There were too few exchanges of messages for a round-trip time."),
    "exit_status": ("the exit status", "iperf3 reported an error."),
    "goodput_ceiling": ("the highest possible goodput", "More was delivered than the bottleneck can pass in the time: its rate did not limit the flows."),
    "host_settings": ("the hosts' settings", "A host did not have the settings of TCP that were asked for."),
    "idle_rtt": ("the idle path's RTT", "Before the traffic the empty path's round-trip time was another one than the delays add up to."),
    "intervals": ("the reporting intervals", "Intervals are missing in iperf3's report."),
    "kernel": ("the kernel that ran", "Another kernel ran than the one that the study built."),
    "least_timeout": ("the least timeout", "Retransmission timeouts were not above the RTT by what the study sets."),
    "loss_bursts": ("the losses in bursts", "Losses came in other bursts than was asked for, or not those of the run's seed."),
    "loss_forward": ("the forward path's loss", "The path lost another share of the data's packets than was asked for, beyond chance."),
    "loss_reverse": ("the reverse path's loss", "The path lost another share of the acknowledgements than was asked for, beyond chance."),
    "marks": ("the count of CE marks", "Marks arrived that no queue made, or marks are missing that one made."),
    "memory": ("the memory limits", "The kernel's memory limits held a flow back, which looks like congestion control and is none."),
    "mtu": ("the links' MTU", "An interface's MTU differs from the configured one."),
    "messages": ("the count of messages", "A client sent fewer messages than it should have."),
    "multipath": ("the joined paths", "The paths were not joined as was asked for."),
    "offloads": ("segmentation offload", "Segmentation offload was not on or off as the study says, so packets have another size."),
    "outage": ("the outage", "The path was not down when it should have been, or let packets in."),
    "overlap": ("the flows' overlap", "Not all flows were sending at the moments at which they should share the path."),
    "pacing": ("pacing", "Another part of the system paced the packets than TCP itself, or TCP's pacing rate is not known."),
    "parameters": ("the CCA's parameters", "The CCA did not have the parameters that the study defines."),
    "path_shares": ("the paths' shares", "The paths carried other shares of the packets than the distribution gives them."),
    "burst": ("what the shaper sends at once", "The shaper let more or fewer packets pass at once than its bucket holds."),
    "policed": ("what the policer lets pass", "The policer let more or fewer packets pass than its rate and burst allow."),
    "policer": ("the policer", "The policer was not as it was asked for, or more was delivered than it allows."),
    "program_data": ("the programs' data", "A declared program sent no data, or reported more than arrived, or ended before it had sent what was asked for."),
    "program_packets": ("the count of the programs' packets", "Packets of a declared program were not counted, or were no single packets."),
    "programs": ("the programs", "A declared program was never ready, failed, did not end as declared, printed too much or did not report what it should."),
    "qdiscs": ("the queues' settings", "A queue or an emulated effect was not in its place, or not with the parameters that were asked for."),
    "queue_limit": ("what the queue holds", "The bottleneck's queue held more or fewer packets at once than was asked for."),
    "rate": ("the bottleneck's rate", "Packets behind each other left the bottleneck faster or slower than its rate."),
    "real_time": ("the real-time streams", "A stream was not sent at its times, or its packets came earlier than the path allows, twice or damaged."),
    "receive_buffer": ("the receive buffer", "More was unacknowledged than the receive buffer holds, or it was much smaller than asked for."),
    "super_packets": ("the size of super-packets", "Super-packets had more segments than the study lets them have."),
    "pacing_limit": ("the limit of the pacing rate", "Sockets had another limit of their pacing rate, or paced faster."),
    "receive_window": ("the receive window", "More data was unacknowledged than an unscaled window can announce."),
    "reordering": ("late packets", "Another share of the packets came late than was asked for, beyond chance."),
    "rtt_floor": ("the lowest possible RTT", "TCP measured a round-trip time below the path's, which can't be."),
    "segment_size": ("the segment size", "A connection sent segments of another size than the study says."),
    "send_buffer": ("the send buffer", "More was unacknowledged or waiting than the send buffer holds, or it was smaller than asked for."),
    "sending_rate": ("the senders' rate limit", "A sender did not keep to the rate limit that the study sets."),
    "series": ("the time series", "Readings are missing in the time series."),
    "streams": ("the count of streams", "There were fewer streams than flows, or one that never sent."),
    "subflows": ("the subflows", "A flow did not carry data on each of its paths, or fell back to plain TCP."),
    "timeline": ("the path's changes", "A change of the path did not take place as planned, or more passed than it allows."),
    "transfer": ("the file", "Not the whole file arrived."),
    "unchanged": ("settings after the traffic", "Something was set otherwise after the traffic than before it, so it is not known when it changed."),
    "web_cca": ("the web server's CCA", "The web server's connections had another CCA than the study says."),
    "web_objects": ("the web objects", "Objects were not asked for at their times, or were incomplete for a reason that is not the network's."),
}  # fmt: skip


def check_noun(name) -> str:
    """Return what a check is about, for the middle of a sentence."""
    return CHECK_WORDS[name][0] if name in CHECK_WORDS else name.replace("_", " ")


def meaning_of_failure(name) -> str:
    """Return what it means that a run fails a check, a sentence; empty of one that is not known here."""
    return CHECK_WORDS[name][1] if name in CHECK_WORDS else ""
