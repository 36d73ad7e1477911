"""Tidy tables don't depend on the number of processes that read the documents."""

import pytest

from drawn_documents import write_documents
from drawn_studies import drawn_config
from run_tables.in_parallel import in_order
from run_tables.run_documents import DocumentError
from run_tables.tidy_tables import TIDY_TABLES
from run_tables.tidying import tidy
from study_files import study as studies
from study_files.study_runs import run_specification, runs


@pytest.fixture
def tidied(tmp_path):
    """A function that tidies a drawn study with a number of processes; it returns each file's content by the table's name."""
    study = studies.resolve(drawn_config(32), "drawn.yaml")
    (tmp_path / "documents").mkdir()
    paths = write_documents(study, tmp_path / "documents", run_specification, runs, 32, 0.2, 0.3)

    def tables_of(processes, damage=False):
        if damage:
            with open(paths[-1], "wb") as stream:
                stream.write(b"not a document")
        place = tmp_path / f"by {processes}"
        place.mkdir()
        outputs = {
            name: place / name for name in (*(table.name for table in TIDY_TABLES), "runs_parquet", "provenance")
        }
        tidy({key: value for key, value in study.items() if key != "analysis"}, paths, outputs, {}, None, processes)
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}

    return tables_of


def test_several_processes_make_the_same_tables(tidied):
    assert len(one := tidied(1)) > 10 and one == tidied(2) == tidied(3)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_damaged_document_is_named(tidied, processes):
    with pytest.raises(DocumentError) as caught:
        tidied(processes, damage=True)
    assert caught.value.path.endswith(".json.gz") and str(caught.value) == f"{caught.value.path}: {caught.value.cause}"


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_results_come_in_the_items_order(processes):
    """The function need not be one that can be pickled."""
    assert list(in_order(lambda item: item**2, range(50), processes)) == [item**2 for item in range(50)]
