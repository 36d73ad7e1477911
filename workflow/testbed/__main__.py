"""Execute one run: ``python3 -m testbed --specification JSON --output FILE``.

The document is written atomically: if FILE exists, it is complete. If the run can't be executed, the program writes no file,
prints the reason in one line and exits with status 1.
"""

import argparse
import json
import sys
from pathlib import Path

from experiment.specification import RunSpecification
from testbed.machine.carrying import carry_out
from testbed.machine.handover import PacketsAsked, TraceAsked
from testbed.machine.machine import GuestError


def main(arguments=None) -> int:
    """Parse the command line, execute the run and return the exit status."""
    parser = argparse.ArgumentParser(prog="testbed", description="Execute one run.")
    parser.add_argument("--specification", required=True, help="the run's specification, a JSON object")
    parser.add_argument("--output", required=True, type=Path, help="the run document, gzip-compressed JSON")
    parser.add_argument("--wall-limit-s", type=float, help="time limit for each try, in seconds of real time")
    parser.add_argument("--kernels", type=Path, help="folder of the custom kernels")
    parser.add_argument("--programs", type=Path, help="folder with the archives of declared programs")
    parser.add_argument("--testbed-digest", help="identity of the testbed; computed by default")
    parser.add_argument("--packets", type=Path, help="folder for captures of the run's packets (platform uml)")
    parser.add_argument("--packet-bytes", type=int, default=128, help="number of bytes to keep of each packet")
    parser.add_argument("--packet-keys", action="store_true", help="keep the TLS secrets that declared programs log")
    parser.add_argument(
        "--at",
        nargs="*",
        default=[],
        help="interfaces at which packets are captured; by default all except the control interfaces",
    )
    parser.add_argument(
        "--packet-step-s",
        type=float,
        help="interval in s between additional readings, for captures that are too large to be read once at the end",
    )
    parser.add_argument("--trace", type=Path, help="folder for a trace of the run's kernel events (platform uml)")
    parser.add_argument("--trace-kernel", type=Path, help="the guest kernel with tracing")
    parser.add_argument("--events", nargs="*", default=[], help="kernel events to trace, such as tcp:*")
    parser.add_argument("--functions", nargs="*", default=[], help="kernel functions to trace, such as cubictcp_*")
    options = parser.parse_args(arguments)
    captures = PacketsAsked(
        options.packet_bytes, options.at, options.packet_step_s, options.packets, options.packet_keys
    )
    trace = TraceAsked(options.trace_kernel, options.events, options.functions, options.trace)
    asked = ({"packets": captures} if options.packets else {}) | ({"trace": trace} if options.trace else {})
    specification = RunSpecification(
        json.loads(options.specification), options.kernels, options.testbed_digest, options.programs
    )
    try:
        carry_out(specification, options.output, sys.stderr.buffer, options.wall_limit_s, **asked)
    except (GuestError, OSError):
        return 1  # the reason is in the log, which is standard error here
    return 0


if __name__ == "__main__":
    sys.exit(main())
