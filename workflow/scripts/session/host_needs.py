"""Features that a study needs from this machine's own kernel. Missing features are reported before any run.

`needs` returns the features that a study needs, and `kernel_features` detects the features of the kernel. `host_problem` returns a sentence
that names the missing features, the scenarios that need them, and ways to add them.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from experiment.conditions import RECEIVING_SIDE, policers_of
from experiment.disciplines import OF_KIND, discipline_of
from experiment.flow_groups import OWN
from experiment.link_options import ARRIVALS, PATH, options_at
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS
from study_files.cca_definitions import kernel_cca
from study_files.study_features import queues_of
from study_files.study_replications import wanted_replications
from study_files.study_runs import all_runs
from testbed.network.transport import cca_given_by
from wording.sentence_words import listed

SCRIPTS = Path(__file__).resolve().parents[1]
#: Command that detects the kernel's features, and the command's environment variables.
PROBE = [sys.executable, "-P", "-m", "session.kernel_features"]
PROBE_ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(map(str, (SCRIPTS, SCRIPTS.parent)))}
MODULES = Path("/lib/modules")
LOADED = Path("/proc/modules")
DISTRIBUTION = Path("/etc/os-release")
#: Part of the kernel -> the feature that needs it, and the module that contains it.
PARTS = {
    "htb": ("rate limits", "sch_htb"),
    "tbf": ("link.shaper tbf", "sch_tbf"),
    "pfifo": ("queues in packets", None),
    "bfifo": ("queues in bytes", None),
    **{kind: (f"queue.discipline {one.name}", f"sch_{kind}") for kind, one in OF_KIND.items() if not one.limited_only},
    "netem": ("delay, jitter and loss", "sch_netem"),
    "ifb": ("delay and loss on a cable, link options behind the bottleneck", "ifb"),
    "ingress": ("delay and loss on a cable, link options behind the bottleneck", "sch_ingress"),
    "matchall": ("delay and loss on a cable, link options behind the bottleneck", "cls_matchall"),
    "mirred": ("delay and loss on a cable, link options behind the bottleneck", "act_mirred"),
    "police": ("link.policer", "act_police"),
    "mptcp": ("Multipath TCP", None),
    "gretap": ("GRE tunnels over IPv4", "ip_gre"),
    "ip6gretap": ("GRE tunnels over IPv6", "ip6_gre"),
    "fou": ("GRE in UDP", "fou"),
    "fou for gretap": ("GRE in UDP", None),  # comes with `fou` if the kernel is configured that way
    "fou for ip6gretap": ("GRE in UDP", "fou6"),
    "bond": ("joining tunnels", "bonding"),
    "veth": ("links", "veth"),
    "tcpi_ecn_mode": ("transport.ecn accurate", None),
}
#: Keys of a link that netem implements.
EFFECTS = ("delay_ms", "jitter_ms", "loss_percent")
#: Step that the machine refuses (`kernel_features`) -> message; {} stands for the machine's own message.
REFUSALS = {
    "namespaces": (
        "platform host needs user namespaces, and this machine refuses them ({}); its administrator can "
        "allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone on Debian, "
        "kernel.apparmor_restrict_unprivileged_userns on Ubuntu), root needs no user namespace outside of a container, "
        "and platform: uml may work without them."
    ),
    "mounts": (
        "platform host has to mount file systems, and this machine refuses ({}), for example because this is a "
        "container that hides part of /proc or /sys; outside of the container it may work, and platform: uml may work without them."
    ),
    "answer": (
        "platform host needs the features of this machine's kernel, which does not answer ({}); it may be loading "
        "a module, so that running the command again may succeed, and platform: uml may work without them."
    ),
}
#: Distribution (ID of os-release(5)) -> package with the modules that a minimal kernel lacks.
PACKAGES = {
    "ubuntu": "linux-modules-extra-{kernel}",
    "debian": "linux-image-amd64 (its cloud kernels lack some)",
    **dict.fromkeys(("fedora", "rhel", "centos", "rocky", "almalinux"), "kernel-modules-extra"),
}


@dataclass(frozen=True)
class Need:
    """A kernel feature required by the runs: a ``part`` (a key of `PARTS`) or the name of a ``cca``.

    ``scenarios`` are the identifiers of the scenarios that need the feature. ``allowed`` is true for a CCA that must be on the kernel's
    list of allowed CCAs (tcp_allowed_congestion_control), because it becomes the default of a network namespace.
    """

    part: str | None
    cca: str | None
    scenarios: tuple
    allowed: bool = False


def needs(study: dict) -> list[Need]:
    """Return the features that a resolved study's scenarios on platform ``host`` need."""
    scenarios = [scenario for scenario in study["scenarios"] if scenario["platform"] == "host"]
    names = dict.fromkeys(kernel_cca(study, cca) for mix in study["ccas"] for cca in mix.split("+"))
    needed = []
    for part in PARTS:
        where = tuple(scenario["id"] for scenario in scenarios if part in _parts_of(scenario))
        needed += [Need(part, None, where)] if where else []
    with_cca = [scenario for scenario in scenarios if scenario["traffic"]["protocol"] == "tcp"]
    for cca, by_sysctl in product(names, (False, True)):
        where = tuple(scenario["id"] for scenario in with_cca if _set_as_default(scenario) == by_sysctl)
        needed += [Need(None, cca, where, by_sysctl)] if where else []
    named = dict.fromkeys(group["cca"] for scenario in with_cca for group in scenario["groups"] if group["cca"] != OWN)
    for cca in (cca for cca in named if kernel_cca(study, cca) not in names):
        where = (scenario["id"] for scenario in with_cca if cca in [group["cca"] for group in scenario["groups"]])
        needed.append(Need(None, kernel_cca(study, cca), tuple(where)))
    return needed


def _kind_of(queue):
    """Return the kind of a queue's qdisc."""
    discipline = discipline_of(queue)
    return discipline.kinds[discipline.counts_in("bytes" if "bytes" in queue else "packets")]


def _parts_of(scenario):
    """Return the parts of the kernel that a scenario's network needs."""
    if scenario["topology"] == "chain":
        return _parts_of_chain(scenario)
    parts, link, paths = {"veth"}, scenario["link"], scenario["multipath"]
    if link["rate_mbps"] is not None and _specification(scenario).shaped:
        netem_queues = link["netem"] != RECEIVING_SIDE or link["shaper"] == "netem"
        parts |= {link["shaper"], *({"netem"} if netem_queues else map(_kind_of, queues_of(scenario)))}
    delays = (
        paths["path_delay_ms"],
        paths.get("path_loss_percent") or (),
        scenario["hosts"]["access_delay_ms"],
        *(link[key].values() for key in EFFECTS),
    )
    cable = scenario["topology"] == "cable"
    # On a dumbbell without a shaper, netem is the queue.
    changing = any(map(_specification(scenario).timeline.changes_netem, DIRECTIONS))
    if (
        changing
        or _has_options(link, PATH)
        or any(any(values) for values in delays)
        or not (cable or link["shaper"] in parts)
    ):
        parts |= {"netem", "ifb", "ingress", "matchall", "mirred"} if cable else {"netem"}
    if _has_options(link, ARRIVALS):
        parts |= {"netem", "ifb", "ingress", "matchall", "mirred"}
    if policers_of(link):
        parts |= {"ingress", "matchall", "police"}
    if paths["by"] == "mptcp":
        parts.add("mptcp")
    if scenario["transport"]["ecn"] == "accurate":
        parts.add("tcpi_ecn_mode")
    if paths["by"] == "gre":
        tunnel = "gretap" if paths["tunnel_ip_version"] == "ipv4" else "ip6gretap"
        parts |= {tunnel, "fou", f"fou for {tunnel}", "bond"}
    return parts


def _has_options(link, place):
    """Return whether the link sets any option that the netem at ``place`` implements."""
    return any(options_at(link, place, direction) for direction in DIRECTIONS)


def _parts_of_chain(scenario):
    """Return the parts that a chain needs: a dumbbell's parts for each bottleneck, and the parts for delay and loss behind a bottleneck."""
    parts = set().union(*(_parts_of(one.scenario) for one in _specification(scenario).bottlenecks)) - {"netem"}
    bottlenecks = [
        *(one["delay_ms"] for one in scenario["chain"]["bottlenecks"]),
        *(scenario["link"][k] for k in EFFECTS),
    ]
    if _has_options(scenario["link"], PATH) or any(any(ways.values()) for ways in bottlenecks):
        parts |= {"netem", "ifb", "ingress", "matchall", "mirred"}
    return parts | ({"netem"} if any(scenario["hosts"]["access_delay_ms"]) else set())


def _specification(scenario):
    """Return the testbed's specification of a scenario."""
    return RunSpecification({"scenario": scenario})


def _set_as_default(scenario):
    """Return whether a scenario makes its CCA a network namespace's default; such a CCA must be on the machine's list of allowed CCAs."""
    return cca_given_by(_specification(scenario)) == "sysctl" and scenario["transport"]["restricted_ccas"] == "allowed"


def has_unmeasured(study: dict, results: Path) -> bool:
    """Return whether any run on platform ``host`` still lacks its document; if none does, the machine needs no check.

    ``study`` is the resolved study, ``results`` its results folder.
    """
    measured = {scenario["id"] for scenario in study["scenarios"] if scenario["platform"] == "host"}
    wanted = wanted_replications(study, results)
    paths = ("/".join(map(str, run)) for run in all_runs(study, wanted) if run[0] in measured)
    return not all((results / f"runs/{path}.json.gz").exists() for path in paths)


def host_problem(study: dict, kernel: dict | None = None) -> str | None:
    """Return the reason why this machine's kernel can't run a resolved study's scenarios on platform ``host``, or None.

    ``kernel`` is the result of `kernel_features`; by default the kernel is probed.
    """
    needed = needs(study)
    if not needed:
        return None
    kernel = kernel or kernel_now()
    if kernel["refuses"]:
        return REFUSALS[kernel["refuses"]].format(kernel["refused"])
    missing = [need for need in needed if not _is_there(need, kernel)]
    return _missing_words(missing, kernel, len(study["scenarios"])) if missing else None


def _is_there(need, kernel):
    """Return whether the kernel has a needed feature."""
    if need.part:
        return kernel["parts"][need.part]
    return need.cca in kernel["ccas_allowed" if need.allowed else "ccas"]


def kernel_now() -> dict:
    """Return the features of this machine's kernel (see `kernel_features`), probed in a separate process."""
    done = subprocess.run(PROBE, env=os.environ | PROBE_ENVIRONMENT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _missing_words(missing, kernel, scenarios):
    """Return a sentence that names the missing features and the scenarios that need them, with instructions to add the features."""
    lacking = {}
    for need in missing:
        if need.part:
            lacking.setdefault((PARTS[need.part][0], need.scenarios), []).append(need.part)
    lacks = [
        f"has no {listed(parts)} ({why}: {_scenario_words(where, scenarios)})"
        for (why, where), parts in lacking.items()
    ]
    absent = [need.cca for need in missing if need.cca and need.cca not in kernel["ccas"]]
    if absent := list(dict.fromkeys(absent)):
        lacks.append(f"has no CCA {', '.join(absent)} (it has {', '.join(kernel['ccas'])})")
    refused = [need.cca for need in missing if need.allowed and need.cca in kernel["ccas"]]
    if refused:
        lacks.append(f"does not allow {', '.join(refused)} as a network namespace's default")
    modules = [PARTS[need.part][1] for need in missing if need.part] + [f"tcp_{cca}" for cca in absent]
    ways = [how_to_add([module for module in modules if module], kernel["kernel"])] if any(modules) else []
    if refused:
        allowed = " ".join(sorted({*kernel["ccas_allowed"], *refused}))
        ways.append(f'sysctl -w net.ipv4.tcp_allowed_congestion_control="{allowed}" makes it an allowed default')
    return (
        f"platform host can't run this study on this machine: its kernel ({kernel['kernel']}) {listed(lacks)}; "
        f"{'; '.join([*ways, 'allowed: scenarios without these'])}, or platform: uml."
    )


def _scenario_words(names, of_all):
    """Return a phrase that counts the given scenarios and names the first; if they are all of the study's scenarios, only count them."""
    if len(names) == of_all > 1:
        return f"all {of_all} scenarios"
    if len(names) == 1:
        return f"scenario {names[0]}"
    return f"{len(names)} scenarios, {names[0]} the first"


def how_to_add(modules: list[str], kernel: str, folder=MODULES, loaded=LOADED, distribution=DISTRIBUTION) -> str:
    """Return instructions for adding modules to the running kernel as root, based on the machine's files.

    ``kernel`` is the kernel's release, ``folder`` contains the modules of all installed kernels, ``loaded`` is the list of loaded modules,
    and ``distribution`` is the file that names the distribution.
    """
    if not loaded.exists():
        return "it doesn't support loadable modules, which could add them"
    try:
        there = (folder / kernel / "modules.dep").read_text()
    except OSError:
        return f"root could add them with modprobe {' '.join(modules)}, if the modules exist for this kernel"
    installed = [module for module in modules if f"/{module}.ko" in there]
    absent = [module for module in modules if module not in installed]
    ways = []
    if installed:
        ways.append(f"root adds {'them' if not absent else 'some'} with modprobe {' '.join(installed)}")
    if absent:
        package = PACKAGES.get(_distribution_id(distribution), "another kernel package").format(kernel=kernel)
        ways.append(f"{', '.join(absent)} may come with {package}")
    return "; ".join(ways)


def _distribution_id(path):
    """Return the distribution's identifier (os-release(5)), or an empty string."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("ID=")), "")
