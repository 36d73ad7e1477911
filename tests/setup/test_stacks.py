"""QUIC stacks of the examples: which there are, where they are put, and that each build gives the same bytes."""

import contextlib
from pathlib import Path

import pytest

import stacks
from progress import SetupError
from session.candidate_programs import named_program
from study_files import study as studies
from study_files.named_programs import names_of
from study_files.stacks import SOURCES, how_to_build, stack_names


def test_each_stack_is_declared_at_its_place():
    for name in stack_names():
        programs = studies.load(SOURCES / f"{name}.yaml")["programs"]
        assert {one["path"] for one in programs.values()} == {f"my/{name}"}
        assert how_to_build(f"my/{name}") == f" `make stack STACK={name}` builds it."
    assert how_to_build("quinn") == how_to_build("my/mine") == ""


def test_every_cca_of_a_stack_that_comes_with_the_checkout_can_be_built(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in stack_names():
        for cca in names_of(studies.load(SOURCES / f"{name}.yaml")["programs"]):
            with pytest.raises(LookupError, match=f"STACK={name}"):
                named_program(cca, None, lambda what, problems: LookupError(what, problems))


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ([], "STACK is empty; allowed: one or more of aioquic, http, quic-go, quiche, quinn, s2n-quic."),
        (["quicke"], "STACK=quicke: there is no such stack; did you mean 'quiche'? Allowed: aioquic,"),
        (["quinn", "tcp"], "STACK=tcp: there is no such stack; allowed: aioquic,"),
        (["../quinn"], "STACK=../quinn: there is no such stack; did you mean 'quinn'?"),
    ],
)
def test_a_name_is_refused_before_anything_is_built(named, sentence, monkeypatch):
    monkeypatch.setattr(stacks, "provide_stack", lambda name: pytest.fail(f"{name} is built"))
    with pytest.raises(SetupError) as refused:
        stacks.provide_stacks(named)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_stack_is_put_into_its_place_and_no_other_file_is_replaced(is_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built = tmp_path / "cache/mine"
    file = built / "packages/one.py" if is_folder else built
    file.parent.mkdir(parents=True)
    file.write_text("built")
    stacks.place_stack("mine", built)
    stacks.place_stack("mine", built)
    placed = Path("my/mine/packages/one.py" if is_folder else "my/mine")
    assert placed.read_text() == "built" and [path.name for path in Path("my").iterdir()] == ["mine"]
    placed.write_text("of the user")
    with pytest.raises(
        SetupError, match="my/mine exists, and differs from what is built from examples/mine: move it away"
    ):
        stacks.place_stack("mine", built)
    assert placed.read_text() == "of the user"


@pytest.mark.long
@pytest.mark.parametrize("name", ["quic-go", "quinn"])
def test_a_stack_is_built_to_the_same_bytes(name, root, tmp_path):
    """From nothing but its source and its lock: a build in another folder gives what the cache has."""
    with contextlib.chdir(root):
        cached = stacks.provide_stack(name)
        source = SOURCES / name
        files = [path for path in source.rglob("*") if path.is_file() and "target" not in path.parts]
        stacks.compile_stack(name, source, files, tmp_path)
    assert (tmp_path / name).read_bytes() == cached.read_bytes()


@pytest.mark.long
def test_a_stack_that_does_not_compile_is_quoted(root, tmp_path):
    source = tmp_path / "quic-go"
    source.mkdir()
    for path in (SOURCES / "quic-go").iterdir():
        (source / path.name).write_text(path.read_text().replace("func main() {", "func main() { nonsense"))
    (tmp_path / "made").mkdir()
    with contextlib.chdir(root), pytest.raises(SetupError, match=r"quic-go can't be built:\n(.|\n)*nonsense"):
        stacks.compile_stack("quic-go", source, [*source.iterdir()], tmp_path / "made")
