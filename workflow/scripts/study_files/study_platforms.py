"""Describe settings that iperf3 or a platform doesn't support, so that a study with such settings is rejected before any run."""

from simulator.limits import refusals

#: Platforms that use the TCP of a Linux kernel.
LINUX = ("uml", "host")
#: Names of x86-64 on different operating systems. The guest kernel runs on no other architecture.
UML_PROCESSORS = ("x86_64", "amd64")


def flow_problems(scenario, ccas) -> list[str]:
    """Return problems with a resolved scenario's flows, as sentences that start with the affected key.

    ``ccas`` lists the study's CCAs, with mixes expanded.
    """
    problems = []
    longest = max(ccas, key=lambda cca: cca.count("+"))
    parts = longest.count("+") + 1
    if 0 < scenario["flows"] < parts and not scenario["groups"]:
        problems.append(f"flows is {scenario['flows']}; allowed: at least {parts}, one for each CCA in {longest}.")
    if scenario["traffic"]["processes"] == "single" and scenario["hosts"]["pairs"] > 1:
        problems.append("traffic.processes is single; allowed with several pairs of hosts: per-flow.")
    if parts > 1 and scenario["traffic"]["processes"] == "single":
        problems.append(f"traffic.processes is single; allowed with a mix ({longest}): per-flow.")
    if parts > 1 and scenario["transport"]["cca_set_by"] == "sysctl":
        problems.append(f"transport.cca_set_by is sysctl; allowed with a mix ({longest}): socket.")
    return problems


def platform_problems(scenario, ccas, ip_versions) -> list[str]:
    """Return a sentence about each setting of a resolved scenario that its platform doesn't support."""
    platform, recovery = scenario["platform"], scenario["transport"]["recovery"]
    if platform not in LINUX:
        return refusals(scenario, ccas, ip_versions)
    where = f"scenarios[{scenario['id']}].transport.recovery"
    return (
        [] if recovery == "prr" else [f"{where} is {recovery}; allowed on {platform}: prr, the only recovery in Linux."]
    )


def machine_problem(study, machine) -> str | None:
    """Return the reason why a resolved study can't run on a machine, or None if it can.

    ``machine`` is the architecture of the machine, as returned by `platform.machine`.
    """
    if any(scenario["platform"] == "uml" for scenario in study["scenarios"]) and machine.lower() not in UML_PROCESSORS:
        return (
            f"platform uml runs only on x86-64 processors, and this machine has {machine}; "
            "allowed on this machine: scenarios with platform: ns3:<version>."
        )
    return None
