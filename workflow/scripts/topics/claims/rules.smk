# Claims: tidy tables -> analysis/{claims,claim_versions}.csv


# Records the claims before the first run, and each later change. `onstart` of the Snakefile also records them, before the
# first job. The record can't be an input of the runs, because its loss would make them stale.
rule record_claims:
    output:
        record=update("results/{study}/workflow/claims-record.json"),
    log:
        "results/{study}/logs/record_claims.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/claims/record_claims"),
        image=ANALYSIS_IMAGE,
        version=CLAIMS_VERSION,
    script:
        "record_claims.py"


# Compares each claim of the paper with the runs: our value, its interval and the verdict.
rule check_claims:
    input:
        **({"record": "results/{study}/workflow/claims-record.json"} if CLAIMS else {}),
        **(
            {"short_flows": "results/{study}/tidy/short_flows.parquet"}
            if any(scenario["groups"] for scenario in STUDY["scenarios"])
            else {}
        ),
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
    output:
        claims="results/{study}/analysis/claims.csv",
        claim_versions="results/{study}/analysis/claim_versions.csv",
    log:
        "results/{study}/logs/check_claims.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/claims/check_claims"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        claims=CLAIMS,
    script:
        "check_claims.py"
