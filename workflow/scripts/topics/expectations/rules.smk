# Expectations: tidy tables, and the analysis tables that expectations are about -> analysis/expectations.csv


# Each expectation that the study must meet to pass as a gate, with its outcome. `workflow/rules/gate.smk` turns it into an exit status.
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
