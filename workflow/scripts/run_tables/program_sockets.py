"""The kernel's sockets of declared programs that send over TCP, by flow (section ``program_sockets`` of a run document)."""


def sockets_of_programs(document) -> dict[int, dict]:
    """Return the entries of the section ``program_sockets`` by flow number; empty if no program sends over TCP."""
    return {one["flow"]: one for one in document.get("program_sockets", ())}


def last_readings(document) -> dict[int, dict]:
    """Return the last reading of each flow's main connection by flow number; flows without a connection are omitted."""
    return {flow: one["last"] for flow, one in sockets_of_programs(document).items() if "last" in one}
