"""Write a study's manifest: RO-Crate metadata with the digest of every published file.

The metadata follow RO-Crate 1.1 and the profile Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5). Some recommended
properties are omitted because studies don't publish who started them, where and when.
"""

import csv
import importlib.metadata
import json
import shutil
from collections import Counter
from pathlib import Path

from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.computerlanguage import get_lang
from rocrate.model.contextentity import ContextEntity
from rocrate.model.dataset import Dataset
from rocrate.model.file import File
from rocrate.rocrate import ROCrate

from publishing.software_entities import RUN_TERMS, add_images, add_software, describe_workflow
from rule_script import run_rule
from run_tables.run_documents import file_sha256
from study_files.run_platforms import image_of, is_repeatable
from wording.number_format import count

WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    WORKFLOW_CRATE: "Workflow RO-Crate",
}
FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".smk": "text/x-snakemake",
    ".svg": "image/svg+xml",
    ".tar": "application/x-tar",
    ".yaml": "application/yaml",
    "": "text/x-snakemake",
}
FOLDERS = {
    "runs": "The run documents: gzip-compressed JSON, one file per run, <scenario>/<cca>/<ip version>/<replication>.json.gz. ",
    "tidy": "Tidy tables made from the run documents: one row per run, flow, interval or check; if the study requests "
    "time series, also one row per reading of a socket and of the queue.",
    "analysis": "Statistics, models and verdicts.",
    "figures": "Figures, each with the data shown in it.",
    "programs": "The files of declared programs, as used by runs: archives named by the first 16 digits of the SHA-256 in the study.",
    "workflow": "Inputs of the study: Snakefile and rules, the study with all defaults filled in, the claims and the time when the claims "
    "were fixed.",
}
#: End of the description of `runs`: what the same seed guarantees if all, none or some of the runs can be repeated byte for byte.
REPEATABLE = {
    (True,): "The same seed gives the same bytes.",
    (False,): "They were measured with a real clock: the same seed gives different bytes.",
    (False, True): "The same seed gives the same bytes, except on platform host: "
    "these runs were measured with a real clock.",
}
LICENCE = "https://spdx.org/licenses/MIT"
#: Date used if the commit's date is unknown, because RO-Crate requires a date; the Unix epoch is the convention in reproducible builds.
NO_DATE = "1970-01-01"
LIBRARIES = ("matplotlib", "numpy", "pandas", "pingouin", "pyarrow", "rocrate", "scipy")


def _run_documents(folder, runs_csv):
    """Yield the path in the folder, the digest (as recorded in a table of runs) and the size in bytes of each run document."""
    with Path(runs_csv).open(newline="", encoding="utf-8") as stream:
        for run in csv.DictReader(stream):
            if not run["document_sha256"]:
                continue  # a run without a document
            factors = (run[factor] for factor in ("scenario", "cca", "ip_version", "replication"))
            path = f"runs/{'/'.join(factors)}.json.gz"
            yield path, run["document_sha256"], (folder / path).stat().st_size


def _other_files(folder, paths):
    """Yield the path in the folder, the digest and the size in bytes of each file that isn't a run document."""
    for path in sorted(set(map(str, paths))):
        yield Path(path).relative_to(folder).as_posix(), file_sha256(path), Path(path).stat().st_size


def _add_files(crate, files):
    """Add all files and their folders to the crate; return the top-level entities: path -> entity."""
    top, members = {}, {}
    for path, digest, size in files:
        name, _, below = path.partition("/")
        kind = ComputationalWorkflow if path == "workflow/Snakefile" else File
        properties = {"contentSize": str(size), "encodingFormat": FORMATS[Path(path).suffix], "sha256": digest}
        entity = crate.add(kind(crate, dest_path=path, properties=properties))
        if below:
            members.setdefault(name, []).append(entity)
        else:
            top[path] = entity
    for name, parts in sorted(members.items()):
        properties = {"name": name, "description": FOLDERS[name], "hasPart": parts}
        top[f"{name}/"] = crate.add(Dataset(crate, dest_path=f"{name}/", properties=properties))
    crate.root_dataset["hasPart"] = [top[path] for path in sorted(top)]
    return top


def _add_slot(crate, workflow, direction, value):
    """Declare an input or an output of the workflow (``direction``), with ``value`` as the example."""
    name, kind = Path(value.id).stem, "Dataset" if value.id.endswith("/") else "File"
    address, required = f"#{direction}-{name}", direction == "input"
    entity = crate.add_formal_parameter(name, kind, identifier=address, valueRequired=required)
    entity["workExample"] = value
    value["exampleOfWork"] = entity
    workflow.append_to(direction, entity)


def _citation(crate, paper):
    """Return the entity of the paper whose claims were checked."""
    details = {"@type": "ScholarlyArticle", "name": paper["title"], "author": paper["authors"]}
    if paper.get("script"):
        details["description"] = f"Its script: {paper['script']}"
    return crate.add(ContextEntity(crate, "#paper", details))


def _verdicts(claims_csv):
    """Return a text with the number of claims per verdict, or None if there are no claims."""
    with Path(claims_csv).open(newline="", encoding="utf-8") as stream:
        counts = Counter(row["verdict"] for row in csv.DictReader(stream))
    listed = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    return f"Verdicts on the claims of the cited paper: {listed}." if counts else None


def _record_words(record_json):
    """Return a text that states when the claims were fixed."""
    first, *later = json.loads(Path(record_json).read_text(encoding="utf-8"))
    when = (
        f"when there {'was' if first['runs'] == 1 else 'were'} {count(first['runs'], 'run')}"
        if first["runs"]
        else "before the first run"
    )
    changes = (
        f"; {len(later)} later version{'s' if len(later) > 1 else ''}, analysis/claim_versions.csv" if later else ""
    )
    return f"The claims, fixed {when}: SHA-256 {first['sha256']}{changes}."


def _study_crate(files, study, provenance, paper, claims, record=""):
    """Return a study's RO-Crate, which depends only on the arguments.

    ``study`` is the resolved study. ``files`` lists the path in the folder, the SHA-256 and the size of each published file. If the claims
    of a paper were checked, ``paper`` describes the paper, ``claims`` is the description of analysis/claims.csv, and ``record`` states
    when the claims were fixed.
    """
    made_by, environments = provenance["workflow"], provenance["environments"]
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(f"{RUN_TERMS}/context")
    crate.metadata["conformsTo"] = [{"@id": address} for address in ("https://w3id.org/ro/crate/1.1", WORKFLOW_CRATE)]
    root = crate.root_dataset
    root["name"] = study["title"]
    root["description"] = study["description"] or f"The study {study['study']}, run with Sawtooth."
    root["identifier"] = study["study"]
    root["datePublished"] = made_by.get("commit_date") or NO_DATE
    licence = {"@type": "CreativeWork", "name": "MIT License", "url": LICENCE}
    root["license"] = crate.add(ContextEntity(crate, LICENCE, licence))
    profiles = [
        (address, {"@type": "CreativeWork", "name": name, "version": address.rpartition("/")[2]})
        for address, name in PROFILES.items()
    ]
    root["conformsTo"] = [crate.add(ContextEntity(crate, *profile)) for profile in profiles]
    top = _add_files(crate, files)
    repeatable = sorted({is_repeatable(environment["platform"]) for environment in environments})
    top["runs/"]["description"] += REPEATABLE[tuple(repeatable)]
    workflow = crate.get("workflow/Snakefile")
    crate.mainEntity = workflow
    describe_workflow(workflow, made_by)
    workflow.lang = crate.add(get_lang(crate, "snakemake", made_by["snakemake"]))
    images_of_runs = {(image_of(environment["platform"]), environment["image_digest"]) for environment in environments}
    images = sorted(images_of_runs, key=lambda image: (image[0] != "testbed", *image))
    images.append(("analysis", made_by["analysis_image_digest"]))
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    workflow["softwareRequirements"] = add_software(crate, environments, libraries)
    sources = [crate.get(path) for path in ("workflow/study.json", "workflow/claims.yaml") if crate.get(path)]
    results = [top[path] for path in sorted(top) if path != "workflow/"]
    for direction, values in (("input", sources), ("output", results)):
        for value in values:
            _add_slot(crate, workflow, direction, value)
    if paper:
        root["citation"] = _citation(crate, paper)
    if claims:
        crate.get("analysis/claims.csv")["description"] = claims
    if record:
        crate.get("workflow/claims-record.json")["description"] = record
    root["mentions"] = crate.add_action(
        workflow,
        identifier="#study-run",
        object=sources,
        result=results,
        properties={
            "name": f"Study {study['study']}",
            "description": "All runs of the study, their analysis and the report. Who started the study, where and when is left "
            f"out{': nothing in the results depends on it' if all(repeatable) else ''}.",
            "containerImage": add_images(crate, images),
        },
    )
    return crate


def _manifest_text(crate):
    """Return the crate's metadata as JSON; the same crate always produces the same bytes."""
    metadata = crate.metadata.generate()
    for entity in metadata["@graph"]:
        for key, value in entity.items():
            if isinstance(value, list) and len(value) == 1:  # as recommended by RO-Crate
                entity[key] = value[0]
    return json.dumps(metadata, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(inputs, outputs, params) -> None:
    """Copy the inputs of a study to the results folder, and write the manifest of all files."""
    target = Path(outputs.manifest)
    folder = target.parent
    for source, copy in zip(inputs.sources, outputs.sources, strict=True):
        shutil.copyfile(source, copy)
    Path(outputs.study).write_text(json.dumps(params.study, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    provenance = json.loads(Path(inputs.provenance).read_text(encoding="utf-8"))
    record = [inputs.record] if params.paper else []
    listed = [*inputs.files, *outputs.sources, outputs.study, *record]
    tables = [inputs.runs, *([inputs.controls] if params.study["controls"] != "none" else [])]
    documents = [document for table in tables for document in _run_documents(folder, table)]
    files = [*documents, *_other_files(folder, listed)]
    claim_words = (_verdicts(inputs.claims), _record_words(inputs.record)) if params.paper else (None, "")
    crate = _study_crate(files, params.study, provenance, params.paper, *claim_words)
    target.write_text(_manifest_text(crate), encoding="utf-8", newline="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
