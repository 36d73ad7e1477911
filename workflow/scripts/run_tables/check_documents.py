"""Read all run documents of a study, and exit with a list of those that can't be used."""

import sys
from pathlib import Path

from rule_script import run_rule
from run_tables.document_form import read_form, violation
from run_tables.in_parallel import in_order
from run_tables.run_documents import DocumentError, read_document, run_of
from study_files.study_runs import run_specification
from wording.terminal_text import said

#: Maximum number of unusable documents named in the message; a file lists all of them.
NAMED = 5


def unusable_documents(study, paths, made_by, form, processes=1) -> list[tuple[str, str]]:
    """Return (path, cause) for each file that can't be used as the document of its run, in the order of `paths`.

    Parameters
    ----------
    study : dict
        Resolved study.
    paths : iterable of str
        Paths of the run documents.
    made_by : dict
        See `run_documents.read_document`.
    form : jsonschema_rs.Draft202012Validator
        Validator from `document_form.read_form`.
    processes : int
        Number of processes that read documents.
    """

    def problem_of(path):
        try:
            document = read_document(path, run_specification(study, *run_of(path)), made_by)
            if problem := violation(form, document):
                raise DocumentError(path, f"doesn't match the schema: {problem}")
        except DocumentError as error:
            # The exception itself isn't kept, because it refers to the text of the document.
            return error.path, error.cause
        return None

    return [problem for problem in in_order(problem_of, paths, processes) if problem]


def _message_on(unusable, count, list_path: Path):
    """Return a message that states the number of unusable documents, the first few of them, the file that lists all, and what to do."""
    lines = [f"{len(unusable)} of {count} run documents can't be used:"]
    lines += [f"  {path}: {cause}" for path, cause in unusable[:NAMED]]
    lines += ["  ..."] if len(unusable) > NAMED else []
    lines += [
        f"All are listed in {list_path}. To repeat only these runs, delete their documents as follows, then run the same command again:"
    ]
    return "\n".join([*lines, f"  cut -f1 {list_path} | xargs -d '\\n' rm -f --"])


def main(inputs, outputs, params, threads) -> None:
    """Write the number of documents if all can be used, otherwise exit with a list of those that can't."""
    unusable_list = Path(outputs.in_order).with_name("unusable-documents.txt")
    unusable_list.unlink(missing_ok=True)
    unusable = unusable_documents(params.study, inputs.documents, params.made_by, read_form(inputs.schema), threads)
    if unusable:
        unusable_list.write_text("".join(f"{path}\t{cause}\n" for path, cause in unusable))
        sys.exit(said(_message_on(unusable, len(inputs.documents), unusable_list)))
    Path(outputs.in_order).write_text(f"all {len(inputs.documents)} run documents are in order\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
