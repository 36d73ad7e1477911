"""Threats to the validity of a study: sentences with preconditions."""

from report_page.statements import ALWAYS, Facts, Statement, every, known, mixed, none, said, some

_PLAIN = every("rate") & none("chain") & none("policer")
_ALONE = none("groups") & none("chain") & none("server")
#: Heading -> sentences. A heading is omitted if none of its sentences applies to the study.
THREATS = {
    "Virtual time": (
        Statement(
            "The guest's clock moves only while the guest is idle, so processing takes no time. CPU load, slow hosts "
            "and the jitter of a real clock are not part of runs on the guest kernel, and no conclusions about them "
            "can be drawn.",
            some("guest kernel"),
        ),
    ),
    "Real time": (
        Statement(
            "Runs on platform host used the kernel, the clock and the processor of one machine, so two runs with "
            "the same seed differ. No other run shared the machine. A run is invalid if a core that carried it was "
            "busy for more than 95 % of any "
            "second or lost more than 5 % of the time to a hypervisor, or if a process was woken too late; smaller disturbances remain.",
            some("own kernel"),
        ),
    ),
    "Simulation": (
        Statement(
            "ns-3 has its own TCP models and doesn't use Linux's code; the models change between versions of ns-3. Results of "
            "simulated scenarios apply to the models of the version used. Values that ns-3 can't provide are left empty, not guessed.",
            some("simulator"),
        ),
    ),
    "Emulated links": (
        Statement(
            "There is no network card: no driver queue, no offload in hardware, no interrupt moderation.", some("kernel")
        ),
        Statement(
            "No super-packet of TSO leaves a host: Linux's TCP sends bursts of about one millisecond at the pacing rate, and "
            "each burst is cut into individual packets before the first link.",
            some("kernel") & none("segmentation offload") & some("tcp") & ~every("cable"),
        ),
        Statement(
            "Scenarios with segmentation offload have super-packets of up to 64 KiB; in the other scenarios, super-packets are cut into individual packets before the first link.",
            some("kernel") & mixed("segmentation offload") & some("tcp"),
        ),
        Statement(
            "Receivers process each packet individually, without NAPI and GRO, so the number of acknowledgements is not reduced; behind a "
            "fast network card there are fewer acknowledgements, and each of them releases a longer burst.",
            some("kernel") & ~every("segmentation offload") & some("tcp"),
        ),
        Statement(
            "The hosts' own links have no rate limit, so an entire congestion window can reach the bottleneck at once.",
            some("kernel") & (some("dumbbell") | some("chain")) & some("rate"),
        ),
        Statement(
            "Random losses are drawn packet by packet (netem); losses on real paths come in longer bursts.",
            some("kernel") & some("single losses"),
        ),
        Statement(
            "Losses in bursts follow a model whose states change from packet to packet, not with time, so the state of an idle path doesn't change.",
            some("loss bursts"),
        ),
        Statement("No jitter is emulated, although the delay of real paths varies.", some("kernel") & none("jitter") & none("late packets") & none("changing path")),
    ),
    "One path": (
        Statement(
            "Some paths have several bottlenecks in series, with cross traffic over each. The cross traffic consists of long flows "
            "only: no flow is short, and no flow comes and goes. Elsewhere on this page, statements about one bottleneck refer to the narrowest bottleneck; goodput, loss and Jain's index cover "
            "all flows together.",
            some("chain"),
        ),
        Statement("Every path has one bottleneck with a drop-tail queue.", _PLAIN & none("managed queue") & none("several paths")),
        Statement("Every path has one bottleneck; the queues are {disciplines}.", _PLAIN & some("managed queue") & none("several paths")),
        Statement(
            "In a scenario without a rate limit, no queue builds up, although a real link would have a queue.", ~every("rate")
        ),
        Statement("A policer drops packets in front of the bottleneck in {policed}.", some("policer")),
        Statement("There is one sender, and one receiver.", ~known("several_pairs") & none("chain")),
        Statement("There are up to {pairs} senders, and as many receivers.", known("several_pairs") & none("chain")),
        Statement("There is no cross traffic.", _ALONE),
        Statement("In addition to the flows under test there are {others}.", some("groups") & known("others")),
        Statement("Some flows come and go while others are sending.", some("flows that come and go")),
        Statement("Messages of a server share the path in {served}.", some("server")),
        Statement(
            "All flows of a run have the same CCA.", none("other CCAs") & ~known("mixes") & some("several flows") & some("tcp")
        ),
        Statement("Active queue management is not examined.", none("managed queue") & some("rate")),
        Statement("Competition between CCAs is not examined.", none("other CCAs") & ~known("mixes") & some("tcp")),
    ),
    "Kernel": (
        Statement("All runs used Linux {kernels}.", known("one_kernel") & none("simulator")),
        Statement("All runs on a kernel used Linux {kernels}.", known("one_kernel") & some("simulator")),
        Statement("Runs used Linux {kernels}.", known("several_kernels")),
        Statement("CCAs change between versions{bbr_above_all}.", (known("one_kernel") | known("several_kernels")) & some("tcp")),
    ),
    "Length of the runs": (
        Statement("Each run covers {amounts} of traffic, including start-up.", ALWAYS),
        Statement(
            "On an empty path, slow start alone takes {trips} ({seconds} s) in {startup_scenario}: {startup_share}, the largest share in any "
            "scenario. In longer runs, slow start would have less weight.",
            known("trips") & some("bulk") & some("tcp"),
        ),
    ),
    "{replications}": (
        Statement(
            "Cells with fewer than {least_runs} runs have no interval for the mean, and no test of a single such cell can "
            "show a difference. In most of these cells, an event with a probability of one in ten per run never occurs.",
            known("few"),
        ),
        Statement("The table of power under Method lists the differences that this number of replications can show.", ~known("few") & known("power")),
        Statement("The width of the intervals shows the precision that this number of replications gives.", ~known("few") & ~known("power")),
        Statement("An undecided cell says something about the size of the study, not about TCP.", known("tests")),
    ),
    "Changes at a fixed phase": (
        Statement(
            "Flows start close together, and a path then changes at fixed times, so a change can hit the CCA's window "
            "at the same phase in all replications. The reaction to the change then depends on that phase as much as "
            "on the CCA. A `traffic.start_within_ms` of a few seconds makes the phase random.",
            some("change at one phase") & some("tcp") & some("bulk"),
        ),
    ),
    "Replications without chance": (
        Statement(
            "In {chanceless}, replications differ only in the start times of flows: nothing else is random there. "
            "The spread of these replications is due to the start times only, and says little about other paths.",
            known("chanceless"),
        ),
        Statement(
            "In {equal_cells} of {cells} with several valid runs, goodput is the same in all of these runs; for these cells n is 1, with no interval or "
            "test, because these runs repeat one measurement.",
            known("equal_cells"),
        ),
    ),
    "Families": (
        Statement(
            "When IPv6 is compared with IPv4, p is corrected over all cells and metrics.", known("tests") & known("ip_versions_compared")
        ),
        Statement("When CCAs are compared, p is corrected over all comparisons of CCAs in the study.", known("ccas_tested") & known("tests")),
        Statement(
            "Intervals aren't corrected: {missed} in a hundred don't contain the mean. Over the whole report, expect more false alarms "
            "than {significance} suggests.",
            known("tests"),
        ),
    ),
}  # fmt: skip


def threats(facts: Facts) -> list[tuple[str, str]]:
    """Return the heading and the text of each threat to a study's validity."""
    texts = [(heading.format_map(facts.values), said(statements, facts)) for heading, statements in THREATS.items()]
    return [(heading, text) for heading, text in texts if text]
