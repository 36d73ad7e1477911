"""Rows of the tidy tables: runs and their flows, reporting intervals and checks, and scenarios."""

from experiment.disciplines import OF_KIND
from experiment.own_kernels import kernel_words
from experiment.run_document import specification_of
from experiment.several_paths import OF_PATH
from experiment.specification import RunSpecification
from run_tables.background_metrics import background_metrics
from run_tables.chain_metrics import bottleneck_rows, chain_columns, whole_delay_ms
from run_tables.cpu_times import cpu_metrics
from run_tables.exclusions import NOT_RUN, excluded_by
from run_tables.flows_under_test import numbers_under_test
from run_tables.link_option_columns import option_counts
from run_tables.load_metrics import load_metrics
from run_tables.loss_burst_columns import burst_columns
from run_tables.marks import marks_of_flows, marks_of_run
from run_tables.path_counts import path_rows
from run_tables.program_intervals import interval_columns, program_intervals
from run_tables.program_metrics import program_flows
from run_tables.queue_sizes import discipline_columns, parameter_words, queue_bdp, queue_words, whole_queue_words
from run_tables.reordering_counts import (
    cwnd_packets,
    reordering_counts,
    waiting_per_late_packet,
    window_limited_percent,
)
from run_tables.run_documents import is_missing
from run_tables.run_metrics import flow_metrics, interval_metrics, payload_and_frame_bytes, run_metrics, total
from run_tables.scenario_table import SCENARIOS
from run_tables.simulated_metrics import is_simulated, simulated_limit_packets
from run_tables.steady_state import USUAL_RULE
from run_tables.tidy_tables import FLOWS
from study_files.study_variation import variation_words
from testbed.checks.loss_checks import outage_drops
from wording.host_option_words import effects_of as host_effects
from wording.host_option_words import queue_of_hosts
from wording.link_words import link_words
from wording.scenario_labels import conditions_of, hidden_conditions
from wording.scenario_words import groups_words


def factors(document) -> dict[str, str | int]:
    """Return the four factors of a run, which identify the run in the tables."""
    return specification_of(document).factors


def _queue_limit_packets(document) -> int | None:
    """Return the configured limit of the bottleneck's queue in the data's direction, in packets, or None."""
    placed = document["network"]["set"]
    if is_simulated(document):
        return simulated_limit_packets(document)
    places = [*placed["bottleneck"]["forward"], *placed["netem"]["forward"]]
    run = specification_of(document)
    if run.is_chain:
        places = places[run.bottlenecks.index(run.narrowest) :]
    kinds = placed["qdiscs"][places[0]] if places else {}
    packets = [
        kinds[kind]["limit"] for kind, one in OF_KIND.items() if kind in kinds and kind == one.kinds.get("packets")
    ]
    if packets:
        return packets[0]
    return kinds["netem"]["limit"] if run.link.netem_is_queue or run.shaper == "netem" else None


def _queue_limit_bytes(document) -> int | None:
    """Return the size of the bottleneck's full queue in the data's direction, in bytes, or None if it is unknown."""
    run = specification_of(document)
    if limit := run.queue_bytes:
        return limit
    if not run.discipline.limited_only and run.queue_packets is not None:
        return run.queue_packets * run.packet_bytes
    packets, packet_bytes = _queue_limit_packets(document), payload_and_frame_bytes(document)[1]
    return None if packets is None or packet_bytes is None else round(packets * packet_bytes)


def _queue_columns(document) -> dict[str, float | None]:
    """Return the columns of runs about the bottleneck's queue: its size in packets, bytes and BDPs, and the size of a packet."""
    run, held_bytes = specification_of(document), _queue_limit_bytes(document)
    return {
        "queue_packets": _queue_limit_packets(document),
        "queue_bytes": held_bytes,
        "packet_bytes": payload_and_frame_bytes(document)[1],
        "queue_bdp": queue_bdp(queue_words(_queue_of(run)), held_bytes, run.rate_mbps, run.rtt_path_ms),
    }


def _queue_of(run):
    """Return the queue of a run's bottleneck; for a chain, the queue of the narrowest bottleneck."""
    return (run.narrowest if run.is_chain else run).scenario["queue"]


def application_columns(scenario) -> dict[str, str | int | None]:
    """Return the columns of runs and scenarios about traffic and topology."""
    traffic, paths = scenario["traffic"], scenario["multipath"]
    return {
        "topology": scenario["topology"],
        "bottlenecks": len(scenario["chain"]["bottlenecks"]) if scenario["topology"] == "chain" else 1,
        "background": scenario["background"],
        "application": traffic["application"],
        "protocol": traffic["protocol"],
        "message_bytes": traffic["block_bytes"],
        "multipath": paths["by"],
        "paths": paths["paths"],
        "tunnel_ip_version": paths["tunnel_ip_version"] if paths["by"] == "gre" else None,
    }


def transfer_s(document) -> float | None:
    """Return the duration in s of a run's longest file transfer, or None if no file was transferred."""
    return max(
        (process["transfer"]["seconds"] for process in document["traffic"] if "transfer" in process), default=None
    )


def rows_of_run(document, label, document_sha256, rule=USUAL_RULE) -> tuple[dict, list[dict], list[dict], list[dict]]:
    """Return the row of `tidy_tables.RUNS` for a run document, and its rows of `FLOWS`, `INTERVALS` and `CHECKS`.

    If the run wasn't executed or failed, its row contains only the configuration and the verdict.

    ``label`` is the scenario's label, ``document_sha256`` is the digest of the document's file as printed by sha256sum, and ``rule``
    defines start-up.
    """
    asked, verdict = specification_of(document), document["verdict"]
    keys = factors(document)
    carried_out = "failure" not in document
    marks = marks_of_flows(document)
    flows, intervals = (flow_metrics(document, rule), interval_metrics(document)) if carried_out else ([], ())
    if carried_out:
        of_programs = list(program_intervals(document))
        columns = interval_columns(document, of_programs, rule)
        flows += [flow | columns[flow["flow"]] for flow in program_flows(document, rule)]
        intervals = [*intervals, *of_programs]
    of_all = {"valid": verdict["valid"]}
    under_test = numbers_under_test(asked)
    flows = [
        {**dict.fromkeys(FLOWS.names), **keys, **flow, **marks[flow["flow"]], "under_test": flow["flow"] in under_test}
        | of_all
        for flow in flows
    ]
    failed = [check for check in verdict["checks"] if not check["ok"]]
    because = "; ".join(f"{check['name']}: {check['observed']}, expected {check['expected']}" for check in failed)
    run = {
        **keys,
        "scenario_label": label,
        "seed": asked.seed,
        "valid": verdict["valid"],
        "invalid_because": NOT_RUN if is_missing(document) else because,
        "excluded_by": excluded_by(document),
        "rate_mbps": asked.rate_mbps,
        "delay_ms": whole_delay_ms(asked.scenario, "forward"),
        "rtt_path_ms": asked.rtt_path_ms,
        "loss_configured_percent": configured_loss_percent(asked),
        "flows": asked.flows + len(asked.program_flows),
        "flows_under_test": len(under_test),
        "duration_s": asked.traffic.duration_s,
        **application_columns(asked.scenario),
        **discipline_columns(asked.scenario | {"queue": _queue_of(asked)}),
        **(_measured(document, flows, rule) if carried_out else {}),
        "platform": asked.platform,
        "pairs": len(asked.pairs),
        **{name: document["environment"].get(name) for name in ("testbed_digest", "image_digest")},
        "document_sha256": document_sha256,
    }
    intervals = [{**keys, **interval} for interval in intervals]
    checks = [
        {**keys, "check": check["name"], **{name: check[name] for name in ("ok", "expected", "observed")}}
        for check in ([] if is_missing(document) else verdict["checks"])
    ]
    return run, flows, intervals, checks


def configured_loss_percent(run) -> float | None:
    """Return the random loss configured in the data's direction, in percent, or None if loss is configured for each path."""
    return None if run.multipath.path_loss_percent else run.link.loss_percent["forward"]


def _measured(document, flows, rule):
    """Return the settings and measurements of an executed run: columns of `tidy_tables.RUNS`."""
    under_test = numbers_under_test(specification_of(document))
    return {
        **_queue_columns(document),
        **run_metrics(document, [flow for flow in flows if flow["flow"] in under_test], rule),
        **load_metrics(document),
        **background_metrics(document),
        "transfer_s": transfer_s(document),
        "outage_drops": outage_drops(document, "forward") if "outage" in document else None,
        **marks_of_run(document),
        **reordering_counts(document),
        **option_counts(document),
        "waiting_per_late_packet": waiting_per_late_packet(document),
        **burst_columns(document),
        "cwnd_packets": cwnd_packets(document),
        "window_limited_percent": window_limited_percent(document),
        **cpu_metrics(document, total(flows, "bytes_received")),
    }


def rows_of_paths(document) -> list[dict]:
    """Return the rows of `tidy_tables.PATHS` for a run document, one per path; empty unless the topology is a cable."""
    keys, valid = factors(document), document["verdict"]["valid"]
    return [{**keys, **row, "valid": valid} for row in ([] if "failure" in document else path_rows(document))]


def rows_of_bottlenecks(document) -> list[dict]:
    """Return the rows of `tidy_tables.BOTTLENECKS` for a run document, one per bottleneck; empty unless the topology is a chain."""
    keys, valid = factors(document), document["verdict"]["valid"]
    return [{**keys, **row, "valid": valid} for row in ([] if "failure" in document else bottleneck_rows(document))]


def rows_of_scenarios(scenarios, queue_packets) -> list[dict]:
    """Return the rows of `tidy_tables.SCENARIOS` for a study.

    ``queue_packets`` maps each scenario to the queue limits of its runs, in packets.
    """
    rows = [scenario_row(scenario, queue_packets.get(scenario["id"], ())) for scenario in scenarios]
    of_all = zip(rows, conditions_of(scenarios), hidden_conditions(scenarios, rows), strict=True)
    return [row | {"conditions": conditions, "more": more} for row, conditions, more in of_all]


def scenario_row(scenario, queue_packets) -> dict:
    """Return the columns of a scenario's row that don't depend on other scenarios.

    ``queue_packets`` are the queue limits of the scenario's runs, in packets.
    """
    link, traffic, hosts, paths = (scenario[key] for key in ("link", "traffic", "hosts", "multipath"))
    run = RunSpecification({"scenario": scenario, "ip_version": "ipv4"})
    of_section = {key: value for section in (traffic, link, scenario["transport"]) for key, value in section.items()}
    return {
        **{name: of_section[name] for name in SCENARIOS.names if name in of_section},
        "scenario": scenario["id"],
        **{name: scenario[name] for name in ("label", "platform")},
        "flows": run.flows,
        "rate_mbps": run.rate_mbps,
        "capacity_least_mbps": run.capacity.least_mbps(),
        "capacity_most_mbps": run.capacity.most_mbps(),
        **{
            f"{name}_{way}_{unit}": link[f"{name}_{unit}"][way]
            for name, unit in (("jitter", "ms"), ("loss", "percent"))
            for way in ("forward", "reverse")
        },
        **{f"delay_{way}_ms": whole_delay_ms(scenario, way) for way in ("forward", "reverse")},
        **chain_columns(scenario),
        "groups": groups_words(scenario["groups"]),
        "queue": queue_words(_queue_of(run)),
        **discipline_columns(scenario | {"queue": _queue_of(run)}),
        "queue_parameters": parameter_words(_queue_of(run)),
        "reverse_queue": whole_queue_words(scenario.get("reverse_queue")),
        "queue_packets": " ".join(str(packets) for packets in queue_packets if packets is not None),
        **application_columns(scenario),
        "distribution": paths["distribution"],
        "path_delay_ms": " ".join(f"{delay:g}" for delay in paths["path_delay_ms"]),
        **{key: " ".join(f"{value:g}" for value in paths.get(key) or ()) for key in OF_PATH},
        **{f"outage_{key}": (paths.get("outage") or {}).get(key) for key in ("path", "at_s", "for_s")},
        "file_bytes": traffic["file_bytes"] if traffic["application"] == "ftp" else None,
        "pairs": len(run.pairs),
        "rtt_path_ms": run.rtt_path_ms,
        "variation": variation_words(scenario["variation"]),
        "kernel": kernel_words(scenario["kernel"]) if "kernel" in scenario else "",
        "host_options": "; ".join([*queue_of_hosts(hosts), *host_effects(scenario["transport"])]),
        "link_options": link_words(link),
        "access_delay_ms": " ".join(f"{delay:g}" for delay in dict.fromkeys(hosts["access_delay_ms"])),
    }
