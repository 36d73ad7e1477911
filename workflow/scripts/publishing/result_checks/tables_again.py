"""Holding a results folder's tidy tables against those that its documents give."""

import os

from publishing.result_checks.json_difference import first_byte
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import TABLE_LIMIT, read_file
from publishing.result_checks.reruns import end, last_words, module_command, mount, start
from publishing.result_checks.tidy_again import TABLES


def problems(folder, root, place) -> list[str]:
    """Make the tidy tables from the documents, in the analysis image, and compare bytes.

    Parameters
    ----------
    folder : pathlib.Path
        A results folder whose documents were found to be in order.
    root, place : pathlib.Path
        The checkout, and an empty temporary folder.

    Returns
    -------
    list of str
        A sentence for each table that differs.
    """
    modules = f"{root / 'workflow/scripts'}{os.pathsep}{root / 'workflow'}"
    mounts = [mount(place), f"{mount(folder)},ro", f"{mount(root / 'workflow')},ro"]
    module = ["publishing.result_checks.tidy_again", str(folder), str(place)]
    process = start(module_command(root / "envs/analysis.sif", mounts, {"PYTHONPATH": modules}, module), place)
    try:
        status = process.wait()
    finally:
        end([process])
    if status:
        return [f"they can't be made from these documents: {last_words(place, status)}"]
    return [sentence for file in TABLES.values() if (sentence := table_problem(folder, file, place))]


def table_problem(folder, file, place) -> str | None:
    """Return how a table of the folder differs from the one made again, or None."""
    made = (place / file).read_bytes()
    try:
        received = read_file(folder, f"tidy/{file}", TABLE_LIMIT)
    except ReceivedError as error:
        return str(error)
    if received == made:
        return None
    offset = first_byte(received, made)
    line = received.count(b"\n", 0, offset) + 1
    where = f"byte {offset}" if file.endswith(".parquet") else f"line {line}, byte {offset}"
    return f"tidy/{file} is not what the documents give: the first difference is in {where}"
