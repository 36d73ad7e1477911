"""Holding a results folder's tidy tables against those that its documents give."""
import subprocess
from pathlib import Path

from result_checks.json_difference import first_byte
from result_checks.received_errors import ReceivedError, shown
from result_checks.received_folder import TABLE_LIMIT, read_file
from result_checks.reruns import end, mount
from result_checks.tidy_again import TABLES


def problems(folder, root, place):
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
    script = Path(__file__).with_name("tidy_again.py")
    process = subprocess.Popen(
        [
            "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--no-home",
            "--mount", mount(place), "--mount", f"{mount(folder)},ro", "--mount", f"{mount(root / 'workflow')},ro",
            str(root / "envs/analysis.sif"), "python3", "-B", str(script), str(folder), str(place),
        ],
        cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate()
    finally:
        end([process])
    if process.returncode:
        last = (said.decode(errors="replace").strip().splitlines() or [f"exit status {process.returncode}"])[-1]
        return [f"they can't be made from these documents: {shown(last)}"]
    return [sentence for file in TABLES.values() if (sentence := table_problem(folder, file, place))]


def table_problem(folder, file, place):
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
