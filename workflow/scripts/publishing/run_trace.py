"""Trace the kernel events of a finished run afterwards: ``python -m publishing.run_trace results/<study>/runs/<run>.json.gz``.

The run is repeated in the same kernel with tracing built in. The trace is kept only if the run document is byte-identical except for the
digest of the kernel's configuration. This shows that the trace contains the events of the finished run.
"""

import argparse
import fnmatch
import os
import re
import shutil
import sys
from pathlib import Path

from experiment.specification import RunSpecification
from publishing import trace_files
from publishing.result_checks import kernels_again, reruns
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import temporary_folder
from publishing.result_checks.testbeds_here import ROOT
from publishing.run_again import FORM, disk_words, finished_run, keep, own_kernels, record, run_of, target_of
from session.run_cost import run_time_s
from testbed.machine.messages import tell
from wording.number_format import count

#: Form of event names and of function names; they may contain the wildcards * and ?.
EVENT, FUNCTION = re.compile(r"[\w*?]+:[\w*?]+", re.A), re.compile(r"[\w*?]+", re.A)
#: Word that stands for all functions of the run's CCAs.
OF_CCA = "cca"
DEFAULT_EVENTS = ["tcp:*"]
#: The beginning of a function definition in a C file.
DEFINED = re.compile(r"^\w[\w\s*]*?\b(\w+)\([^;{}()]*\)\s*\{", re.M | re.A)
#: Maximum length of a list of function globs, in bytes; the kernel rejects much longer lists.
LONGEST_GLOBS = 3_900
#: Keys in the document's ``environment`` that tracing changes.
UNLIKE = ("kernel_config_sha256",)
#: CCA in the kernel -> globs that match the functions in the CCA's source file in net/ipv4.
CCA_FUNCTIONS = {
    "reno": "tcp_reno_* tcp_slow_start tcp_cong_avoid_ai",
    "bbr": "bbr_*",
    "bic": "bictcp_*",
    "cdg": "tcp_cdg_* nexp_u32",
    "cubic": "cubictcp_* bictcp_* hystart_* cubic_root",
    "dctcp": "dctcp_*",
    "highspeed": "hstcp_*",
    "htcp": "htcp_* measure_rtt measure_achieved_throughput",
    "hybla": "hybla_*",
    "illinois": "tcp_illinois_* rtt_reset avg_delay max_delay alpha beta update_params",
    "lp": "tcp_lp_*",
    "nv": "tcpnv_* nv_get_bounded_rtt",
    "scalable": "tcp_scalable_*",
    "vegas": "tcp_vegas_* vegas_*",
    "veno": "tcp_veno_* veno_*",
    "westwood": "tcp_westwood_* westwood_* update_rtt_min",
    "yeah": "tcp_yeah_*",
}


def main(arguments=None) -> int:
    """Repeat the run that the command line names, and print the paths of the trace's files; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_trace", description=__doc__.splitlines()[0])
    parser.add_argument("document", type=Path, help=FORM)
    parser.add_argument(
        "--events",
        nargs="*",
        default=[],
        help="events or globs of events; tcp:* if neither events nor functions are given",
    )
    parser.add_argument("--functions", nargs="*", default=[], help=f"TCP functions or globs of functions; {OF_CCA} stands for the functions of the run's CCAs")  # fmt: skip
    parser.add_argument("--build", action="store_true", help="build and start the run's own kernel, if it has one")
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    try:
        return _trace(options)
    except ReceivedError as error:
        tell(str(error))
    except OSError as error:
        tell(f"{disk_words(error)}; no events were kept.")
    except KeyboardInterrupt:
        tell("interrupted; no events were kept.")
    return 1


def _trace(options):
    _require_form("EVENTS", options.events, EVENT, "tcp:tcp_probe or qdisc:*")
    _require_form("FUNCTIONS", options.functions, FUNCTION, f"cubictcp_* or {OF_CCA}")
    if options.check:
        run_of(options.document)
        return 0
    run = finished_run(options.document, "events")
    asked = _functions(run, options.functions)
    functions = list(dict.fromkeys(one for globs in asked.values() for one in globs))
    if len(",".join(functions)) > LONGEST_GLOBS:
        raise ReceivedError(f"FUNCTIONS has more than {LONGEST_GLOBS:,} characters; use globs, which are shorter.")
    target = target_of(run, "trace")
    events = options.events or ([] if functions else DEFAULT_EVENTS)
    print(f"run {run.name}: {' '.join([*events, *functions])}; {reruns.about(run_time_s(run.specification))}, plus a few minutes to build the kernel with tracing if it doesn't exist yet", flush=True)  # fmt: skip

    def arguments(folder, _):
        # Of the temporary folders, this is the only one that the run can read.
        linux = shutil.copy(kernel, folder / "linux")
        return ["--trace", str(folder), "--trace-kernel", str(linux), "--events", *events, "--functions", *functions]

    with temporary_folder() as place:
        kernels = own_kernels(run, place, options.build)
        kernel = _traced_kernel(run, place)
        made = record(run, place, kernels, "events", arguments, steps_s=(None,), unlike=UNLIKE)  # fmt: skip
        tables = place / "tables"
        tables.mkdir()
        readings, said, calls = _write(made, tables, bool(functions), run.document["stack"]["tcp"])
        files = keep(tables, target, "*")
    print("the document was reproduced byte for byte, except for the digest of the kernel's configuration, so these are the run's events:")  # fmt: skip
    for file in files:
        print(f"  {os.path.relpath(file)}: {said.get(file.name, 'text')}; {file.stat().st_size / 1e6:,.1f} MB")
    if missing := uncalled(asked, calls):
        print(f"  no call of {', '.join(missing)}: it wasn't called, or it isn't in net/ipv4/tcp_*.c or a C file of the study (net/ipv4/tcp.c and net/ipv6 are not traced)")  # fmt: skip
    if readings["lost"]:
        print(f"  {readings['lost']:,} events did not fit into the guest's memory: request fewer events (EVENTS=...)")
    return 0


def _require_form(variable, values, form, example):
    for value in values:
        if not form.fullmatch(value):
            raise ReceivedError(f"{variable} names {shown(value)}; allowed: names with * and ?, such as {example}.")


def _functions(run, asked):
    """Return the function globs that each requested name stands for: itself or, if it is `OF_CCA`, the functions of the run's CCAs."""
    return {one: _functions_of_ccas(run) if one == OF_CCA else [one] for one in asked}


def uncalled(asked: dict[str, list[str]], calls: list[trace_files.Call]) -> list[str]:
    """Return the requested names that match no call; ``asked`` maps each name to the function globs that it stands for."""
    called = {call.function for call in calls}
    return [name for name, globs in asked.items() if not any(fnmatch.filter(called, one) for one in globs)]


def _functions_of_ccas(run):
    """Return the functions that implement the CCAs of a run's flows: globs for the kernel's CCAs, names for CCAs from C files."""
    specification = RunSpecification(run.specification)
    texts = kernels_again.source_texts(run.specification, run.folder, ROOT) if specification.sources else {}
    of_files = {one.kernel_cca: DEFINED.findall(texts[one.sha256]) for one in specification.sources}
    functions = []
    for name in sorted({specification.flow_kernel_cca(flow) for flow in range(specification.flows)}):
        if name not in CCA_FUNCTIONS.keys() | of_files.keys():
            raise ReceivedError(f"FUNCTIONS={OF_CCA}: the functions of {name}, which is from a patch or another Linux, aren't known; name them, for example {name}_*.")  # fmt: skip
        functions += of_files.get(name) or CCA_FUNCTIONS[name].split()
    return functions


def _traced_kernel(run, place):
    """Build the run's kernel with tracing; return the path of the built kernel."""
    try:
        return kernels_again.with_tracing(run.specification, run.folder, ROOT, place / "traced")
    except ReceivedError as error:
        raise ReceivedError(f"the kernel with tracing: {error}.") from None


def _write(made, tables, has_functions, counters):
    """Write all files of a trace to a folder; return the readings of the trace, a description of each file (name -> text), and the calls.

    ``counters`` holds the counters of each host after the traffic, from the run document.
    """
    readings = trace_files.readings_of(made)
    origin_ns, trace = readings["origin_ns"], made / "trace.txt"
    rows = trace_files.write_tables(trace, origin_ns, readings["interfaces"], tables)
    said = {f"{event}.csv": count(number, "event") for event, number in rows.items()}
    trace_files.write_text(trace, origin_ns, tables / "trace.txt")
    said["trace.txt"] = count(sum(rows.values()), "event")
    calls = []
    if has_functions:
        calls = trace_files.calls_of(trace)
        trace_files.write_calls(calls, origin_ns, tables)
        said["functions.csv"] = said["functions.txt"] = count(len(calls), "call")
    trace_files.write_counters(readings["counters"], counters, tables / "nstat.csv")
    said["nstat.csv"] = count(len(counters), "host")
    (made / "kernel.log").rename(tables / "kernel.log")
    return readings, said, calls


if __name__ == "__main__":
    sys.exit(main())
