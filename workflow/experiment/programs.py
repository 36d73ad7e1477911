"""Programs that a study declares as flows: each consists of a server and a client, and may implement congestion control itself.

Each group that uses a declaration (`programs` of study.schema.yaml) contains a copy of the declaration, so that a run's specification is
complete.
"""

import random
import re
from dataclasses import dataclass
from functools import cached_property

from experiment.flow_groups import LONG, OWN, PROGRAM
from experiment.host_pairs import Pair

#: Port of the first flow if the run's first group is a program group, and number of ports reserved for each group.
PROGRAM_PORT, FLOWS_OF_A_GROUP = 14_001, 64
#: Placeholder in a command -> its value, in words.
PLACEHOLDERS = {
    "folder": "the folder with the program's own files",
    "server": "the server's address and port, such as 10.0.1.2:14001 or [fd00::2]:14001",
    "server_address": "the server's address",
    "client_address": "the client's address",
    "port": "the server's port",
    "seconds": "the sending time in s for bulk traffic, otherwise empty",
    "bytes": "the number of bytes to send for traffic of a given size, otherwise empty",
    "cca": "the part of the program's name after the colon, or empty",
    "seed": "a whole number below 2**63, different for each flow and for each of the run's seeds",
    "logs": "an empty folder that the program may write to",
}
#: A placeholder in a command. `%{...}` and `${...}` are left to the program: curl and shells use them.
PLACEHOLDER = re.compile(r"(?<![%$])\{([a-z_]+)\}")


@dataclass(frozen=True)
class Program:
    """The program of a resolved group (``workflow/schemas/study.schema.yaml``, ``program``)."""

    name: str
    cca: str | None
    path: str | None
    sha256: str | None
    server: list[str]
    client: list[str]
    protocol: str
    data_from: str
    ready_line: str | None
    server_ends: str
    client_ends: str
    reports_bytes: str | None
    memory_mib: int
    #: Name pattern of the sending side's qlog files in ``{logs}``; a declaration omits this key if the program writes no such files.
    qlog: str | None = None

    @property
    def label(self) -> str:
        """The program's name in tables: ``stack:cca``, or only the name if the program has no CCA."""
        return f"{self.name}:{self.cca}" if self.cca else self.name

    @property
    def folder(self) -> str | None:
        """Name of the folder with the program's files in a run, and of their archive; None for a program in the image."""
        return self.sha256 and self.sha256[:16]


@dataclass(frozen=True)
class ProgramFlow:
    """A flow of a program.

    ``number`` continues the numbering of the long flows. ``start_s`` is the client's start time in s since the traffic's origin. The flow
    either sends a given number of ``bytes``, or sends for the duration of its group, in ``seconds``; the unused field is None.
    """

    number: int
    group: str
    program: Program
    pair: Pair
    port: int
    start_s: float
    seconds: float | None
    bytes: int | None
    seed: int

    @property
    def server_host(self) -> str:
        """The host on which the server runs: the pair's sender if the server sends the data, otherwise the receiver."""
        return self.pair.sender if self.program.data_from == "server" else self.pair.receiver

    @property
    def client_host(self) -> str:
        """The host on which the client runs."""
        return self.pair.receiver if self.program.data_from == "server" else self.pair.sender

    @cached_property
    def who(self) -> str:
        """The flow's description in messages."""
        return f"{self.program.label} (flow {self.number} of group {self.group})"

    def words(self, command, values) -> list[str]:
        """Return a command of the flow's program, word by word, with all placeholders filled in."""
        return [PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in command]


def program_flows(specification) -> list[ProgramFlow]:
    """Return the flows of a run's programs, group by group.

    Each flow, like a long flow, starts at a random time after the start of its group. The offset is drawn uniformly from 0 to the study's
    ``start_within_ms``, which defaults to the longest base RTT. If a program is under test, its group's ``cca`` is the program's name,
    and the group's flows start at the same times as the long flows that they replace.
    """
    within_s = _within_s(specification)
    under_test = starts_drawn(specification)[1] if is_under_test(specification) else {}
    flows = []
    for place, group in enumerate(specification.groups):
        if group.application != PROGRAM:
            continue
        seconds = None if group.stop_s is None else group.stop_s - group.start_s
        draw = random.Random(specification.substream(f"program {group.name}"))
        for member in range(group.count):
            start_s, seed = group.start_s + draw.uniform(0, within_s), draw.getrandbits(63)
            if group.name in under_test:
                start_s = group.start_s + under_test[group.name][member]
            flows.append(
                ProgramFlow(
                    specification.flows + len(flows), group.name, Program(**group.program),
                    specification.member_pair(group, member),
                    PROGRAM_PORT + FLOWS_OF_A_GROUP * place + member, start_s, seconds, group.bytes, seed,
                )
            )  # fmt: skip
    return flows


def is_under_test(specification) -> bool:
    """Return whether the run's flows under test are flows of programs."""
    return any(group.cca != OWN for group in specification.groups_of(PROGRAM))


def starts_drawn(specification) -> tuple[list[float], dict[str, list[float]]]:
    """Return the start offsets of the long flows (a list) and of the program flows under test (one list per group, by name).

    An offset is the time in s from the start of the group to the start of the flow. Offsets are drawn in the order of the groups, so that
    replacing a flow's CCA doesn't change its offset.
    """
    draw, within_s = random.Random(specification.substream("flow-starts")), _within_s(specification)
    long_flows, programs = [], {}
    for group in specification.groups:
        if group.application == LONG:
            long_flows += [draw.uniform(0, within_s) for _ in range(group.count * len(group.on_times_s))]
        elif group.application == PROGRAM and group.cca != OWN:
            programs[group.name] = [draw.uniform(0, within_s) for _ in range(group.count)]
    return long_flows, programs


def _within_s(specification):
    within_ms = specification.traffic.start_within_ms
    return (specification.rtt_longest_ms if within_ms is None else within_ms) / 1e3


def has_programs(specification) -> bool:
    """Return whether a specification (a dict) includes flows of declared programs."""
    return any(group.get("program") for group in specification["scenario"].get("groups", ()))


def needs_files(specification) -> dict[str, str]:
    """Return the SHA-256 digests of the archives that a run's programs need, by the name of the program's folder."""
    programs = (Program(**group.program) for group in specification.groups_of(PROGRAM))
    return {program.folder: program.sha256 for program in programs if program.folder}
