# Validity: runs and their checks -> analysis/{validity,checks}.csv


# Valid and excluded runs of each cell, passed and failed runs of each check.
rule summarise_validity:
    input:
        runs="results/{study}/tidy/runs.csv",
        checks="results/{study}/tidy/checks.csv",
    output:
        validity="results/{study}/analysis/validity.csv",
        checks="results/{study}/analysis/checks.csv",
    log:
        "results/{study}/logs/summarise_validity.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/validity/summarise_validity"),
        image=ANALYSIS_IMAGE,
    script:
        "summarise_validity.py"
