"""The studies of a series: a regression study, and exams that compare each CCA on the patched kernel with the same CCA on the base."""

from sending.question import OF_BASE
from session.candidate import NEED_ECN, with_traces
from session.derived_study import write_study
from session.study_names import FOLDER
from study_files import study as studies

#: Suffixes that the studies append to a CCA's name on the patched kernel, and on a base that isn't the image's kernel.
PATCHED, BASE = "-series", "-base"
REGRESSION, EXAM = FOLDER / "regression.yaml", FOLDER / "exam-quick.yaml"
#: Additional CCA that exams need. Harm to a flow with this CCA is measured relative to the same flow alone on the path.
VICTIM = "cubic"
#: Scenario whose measure needs runs of Reno alone. Such runs are part of these exams only if Reno is the examined CCA.
BESIDE_RENO = "5.2.1-beside-reno"


def base_name(question, cca) -> str:
    """Return the name under which the studies run a CCA on the base kernel."""
    return f"{cca}{BASE}" if question.base.is_own else cca


def patched_name(cca) -> str:
    """Return the name under which the studies run a CCA on the patched kernel."""
    return f"{cca}{PATCHED}"


def kernels(question, ccas) -> dict:
    """Return the ``kernels`` section of a study that runs the given CCAs on the base and on the patched kernel."""
    both = {"series": question.kernel() | {"ccas": {patched_name(cca): cca for cca in ccas}}}
    if question.base.is_own:
        of_base = {key: value for key, value in question.base.kernel.items() if key in OF_BASE and value}  # fmt: skip
        if patches := [*question.files_of_base]:
            of_base["patches"] = patches
        both["base"] = of_base | {"ccas": {base_name(question, cca): cca for cca in ccas}}
    return both


def regression(question) -> dict:
    """Return the content of the study file for the regression study of a series."""
    study = studies.load(REGRESSION)
    ccas = question.touched.ccas
    return _of_series(study, question, ccas, f"series-{question.name}") | {
        "ccas": [name for cca in ccas for name in (base_name(question, cca), patched_name(cca))],
        "title": f"{question.name}: the series against its base",
        "description": study["description"].replace("CUBIC on the image's Linux", f"{', '.join(ccas)} on {question.base.words}")
        .replace(" (here examples/ack-segments.patch, which with its default changes nothing)", ""),
    }  # fmt: skip


def exam(question, cca) -> dict:
    """Return the content of the study file for a short exam of a CCA on the patched kernel, compared with the same CCA on the base."""
    study = with_traces(studies.load(EXAM), EXAM)
    base, patched = base_name(question, cca), patched_name(cca)
    asked = {"cca": patched, "standards": [base]}
    if cca != "reno":
        asked["primaries"] = {name: one for name, one in study["exam"]["primaries"].items() if name != BESIDE_RENO}
    return _of_series(study, question, [cca], f"series-{question.name}-exam-{cca}") | {
        "ccas": list(dict.fromkeys([VICTIM, base, patched])),
        "exam": study["exam"] | asked,
        "title": f"{question.name}: an exam of {cca} against its base",
    }


def _of_series(study, question, ccas, name):
    """Return a study with the base kernel and the patched kernel, and with ECN on if a CCA needs it (`NEED_ECN`)."""
    study = study | {"study": name, "kernels": kernels(question, ccas)}
    if any(cca in NEED_ECN for cca in ccas):
        defaults = study["defaults"]
        study["defaults"] = defaults | {"transport": {"ecn": "classic"} | (defaults.get("transport") or {})}
    return study


def write(study, question) -> tuple[str, dict]:
    """Write a study file next to the results of the study; return the file and the resolved study."""
    file = f"results/{study['study']}.yaml"
    return file, write_study(study, file, f"`make series` of {' '.join(question.given)}")
