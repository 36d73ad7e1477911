# Report: tidy tables, analysis and figures -> report.html; all of these and the runs -> ro-crate-metadata.json


def figure_files(kind):
    """Return input name -> path of every figure, its data or its caption."""
    paths = {
        "figure": "results/{{study}}/figures/{figure.slug}.svg",
        "data": "results/{{study}}/figures/{figure.slug}.csv",
        "caption": "report/captions/{figure.caption}.rst",
    }
    return {
        f"{figure.slug.replace('-', '_')}_{kind}": paths[kind].format(figure=figure) for figure in OUTLINE.figures
    }


rule write_report:
    input:
        **figure_files("figure"),
        **figure_files("data"),
        **figure_files("caption"),
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        provenance="results/{study}/tidy/provenance.json",
        **{name: f"results/{{study}}/analysis/{name}.csv" for name in OUTLINE.tables},
        **{name: path for name, path in OTHER_TABLES.items() if name != "other_descriptive"},
        template="report/page.html.j2",
        style="report/page.css",
        script="report/page.js",
        parts=["report/macros.html.j2", *sorted(map(str, Path("report/sections").glob("*.html.j2")))],
        modules=modules_of("write_report"),
    output:
        report="results/{study}/report.html",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        power=POWER,
        margins=studies.differences(STUDY["analysis"]["equivalence_margin"]),
        margin_reason=STUDY["analysis"]["equivalence_margin"]["reason"],
        agreement=STUDY["analysis"]["agreement"],
        detect=studies.differences(STUDY["analysis"]["detect"]),
        configfile=STUDY_FILE,
        platform=workflow.config_settings.config.get("platform"),
        compare_with=OTHER_STUDY,
        claims_name=CLAIMS_NAME,
        claims=CLAIMS and CLAIMS["claims"],
        paper=CLAIMS and CLAIMS["paper"],
    log:
        "results/{study}/logs/write_report.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/write_report.py"


# Published with the results, for the manifest names what made them: path here -> its copy.
SOURCES = {
    path: f"results/{{study}}/workflow/{path.removeprefix('workflow/')}"
    for path in ("Snakefile", *sorted(map(str, Path("workflow/rules").glob("*.smk"))))
} | ({f"config/claims/{CLAIMS_NAME}.yaml": "results/{study}/workflow/claims.yaml"} if CLAIMS_NAME else {})


# Digest and size of every published file. The run documents' digests are those that tidying found.
rule write_manifest:
    input:
        files=[
            *rules.tidy_runs.output,
            *(path for path in rules.write_report.input if path.startswith("results/{study}/")),
            *rules.write_report.output,
        ],
        runs="results/{study}/tidy/runs.csv",
        provenance="results/{study}/tidy/provenance.json",
        **({"claims": "results/{study}/analysis/claims.csv"} if CLAIMS else {}),
        sources=list(SOURCES),
        modules=modules_of("write_manifest"),
    output:
        manifest="results/{study}/ro-crate-metadata.json",
        study="results/{study}/workflow/study.json",
        sources=list(SOURCES.values()),
    params:
        image=ANALYSIS_IMAGE,
        study=STUDY,
        paper=CLAIMS and {key: CLAIMS["paper"][key] for key in ("title", "authors", "script") if CLAIMS["paper"].get(key)},
    log:
        "results/{study}/logs/write_manifest.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/write_manifest.py"
