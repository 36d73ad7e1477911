# Report: tidy tables, analysis, figures -> report.html, details.html, findings.json, explore.html
# Manifest: all of these files and the runs -> ro-crate-metadata.json


OTHER_TABLES = [f"other_{table.name}" for topic in OUTLINE.topics for table in topic.other_tables]


rule write_report:
    input:
        **figure_rule(OUTLINE.figures, DESIGN, SETTINGS, own)["output"],
        **table_paths(("runs", "scenarios", *OTHER_TABLES), DESIGN),
        **{table.name: f"results/{{study}}/{table.path}" for table in OUTLINE.tables},
        provenance="results/{study}/tidy/provenance.json",
        template=own("report/page.html.j2"),
        style=own("report/page.css"),
        script=own("report/page.js"),
        parts=[
            own("report/macros.html.j2"),
            *(own(path) for folder in ("sections", "short") for path in files_below(f"report/{folder}", "*.html.j2")),
            *(own(f"{topic.folder}/section.html.j2") for topic in OUTLINE.topics),
        ],
    output:
        report=report(
            "results/{study}/report.html",
            caption="../../report/page.rst",
            category="Report",
            labels={"figure": "The report", "shows": "findings, their figures"},
        ),
        details=report(
            "results/{study}/details.html",
            caption="../../report/details.rst",
            category="Report",
            labels={"figure": "Details", "shows": "all tables, tests, figures"},
        ),
        findings="results/{study}/findings.json",
    log:
        "results/{study}/logs/write_report.log",
    container:
        "envs/analysis.sif"
    params:
        **SETTINGS,
        code=code_of("report_page/write_report", *section_modules(OUTLINE)),
        image=ANALYSIS_IMAGE,
        analysis=ANALYSIS,
        prose={key: STUDY[key] for key in studies.PROSE},
        other_tables=sorted(DESIGN.other_tables),
        claims=CLAIMS and CLAIMS["claims"],
        paper=CLAIMS and CLAIMS["paper"],
        # Only such studies may compare kernels.
        image_version=image_version() if STUDY["cca_definitions"] else None,
    script:
        "../scripts/report_page/write_report.py"


# The page on which a reader chooses the data to plot. It needs only the tidy tables.
rule write_explorer:
    input:
        **table_paths(("runs", "scenarios", "flows", "checks", "intervals", "sockets", "queue", "provenance"), DESIGN),
        template=own("report/explore/explore.html.j2"),
        style=own("report/page.css"),
        own_style=own("report/explore/explore.css"),
        script=own("report/explore/explore.js"),
    output:
        page=report(
            "results/{study}/explore.html",
            caption="../../report/explore.rst",
            category="Report",
            labels={"figure": "Explore the runs", "shows": "any measure, single runs"},
        ),
    log:
        "results/{study}/logs/write_explorer.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("report_page/write_explorer"),
        image=ANALYSIS_IMAGE,
        prose={key: STUDY[key] for key in studies.PROSE},
        confidence=SETTINGS["confidence"],
    script:
        "../scripts/report_page/write_explorer.py"


# Workflow files that are published with the results, because the manifest names them: path here -> path of the copy.
SOURCES = {
    own(path): f"results/{{study}}/workflow/{path.removeprefix('workflow/')}"
    for path in (
        "workflow/Snakefile",
        *files_below("workflow/rules", "*.smk"),
        *files_below("workflow/scripts/topics", "*/rules.smk"),
        # Analyses and figures are declared in these files.
        *files_below("workflow/scripts/topics", "*/topic.py"),
    )
} | ({CLAIMS_FILE: "results/{study}/workflow/claims.yaml"} if CLAIMS_NAME else {})


# Digest and size of every published file. The digests of run documents come from the tidy tables.
rule write_manifest:
    input:
        **({"claims": "results/{study}/analysis/claims.csv"} if CLAIMS else {}),
        **({"record": "results/{study}/workflow/claims-record.json"} if CLAIMS else {}),
        **({"controls": "results/{study}/tidy/controls.csv"} if STUDY["controls"] == "aa" else {}),
        files=[
            *rules.tidy_runs.output,
            *(path for path in rules.write_report.input if path.startswith(f"{RESULTS}/{{study}}/")),
            *rules.write_report.output,
            *rules.write_explorer.output,
            *(f"results/{{study}}/workflow/kernel-{kernel}.json" for kernel in KERNELS),
            # Needed to repeat runs with declared programs.
            *(f"results/{{study}}/programs/{program}.tar" for program in PROGRAMS),
        ],
        runs="results/{study}/tidy/runs.csv",
        provenance="results/{study}/tidy/provenance.json",
        sources=list(SOURCES),
    output:
        manifest="results/{study}/ro-crate-metadata.json",
        study="results/{study}/workflow/study.json",
        sources=list(SOURCES.values()),
    log:
        "results/{study}/logs/write_manifest.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("publishing/write_manifest"),
        image=ANALYSIS_IMAGE,
        study=STUDY,
        paper=CLAIMS
        and {key: CLAIMS["paper"][key] for key in ("title", "authors", "script") if CLAIMS["paper"].get(key)},
    script:
        "../scripts/publishing/write_manifest.py"
