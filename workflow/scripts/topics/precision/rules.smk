# Precision: runs -> analysis/precision.csv


# How precisely each mean is known that is to be precise, and after how many replications.
rule describe_precision:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        precision="results/{study}/analysis/precision.csv",
    log:
        "results/{study}/logs/describe_precision.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/precision/describe_precision"),
        image=ANALYSIS_IMAGE,
        replications=STUDY["replications"],
        confidence=SETTINGS["confidence"],
    script:
        "describe_precision.py"
