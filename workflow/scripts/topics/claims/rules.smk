# Claims: tidy tables -> analysis/{claims,mislabelled}.csv


# Each claim of the paper: ours with its interval, and the verdict.
rule check_claims:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
    output:
        claims="results/{study}/analysis/claims.csv",
    log:
        "results/{study}/logs/check_claims.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/claims/check_claims"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        resamples=RESAMPLES,
        seed=STUDY["seed"],
        claims=CLAIMS,
    script:
        "check_claims.py"


# Runs in which another CCA ran than the one asked for, beside the two that they might be.
rule find_mislabelled:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        provenance="results/{study}/tidy/provenance.json",
    output:
        mislabelled="results/{study}/analysis/mislabelled.csv",
    log:
        "results/{study}/logs/find_mislabelled.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/claims/find_mislabelled"),
        image=ANALYSIS_IMAGE,
    script:
        "find_mislabelled.py"
