# Expectations: tidy tables, and analysis tables that they are about -> analysis/expectations.csv


# What the study must show to pass as a gate, and what came out. `workflow/rules/gate.smk` makes an exit status of it.
rule check_expectations:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        tables=list(table_paths(EXPECTED_TABLES, DESIGN).values()),
    output:
        expectations="results/{study}/analysis/expectations.csv",
    log:
        "results/{study}/logs/check_expectations.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/expectations/check_expectations"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        claims=CLAIMS,
        expectations=EXPECTATIONS,
        tables=EXPECTED_TABLES,
        study={key: STUDY[key] for key in ("scenarios", "ccas", "ip_versions")},
    script:
        "check_expectations.py"
