# Variance: runs, scenarios -> analysis/variance.csv


# How much of each metric's variance each factor makes, each pair of them, and chance.
rule decompose_variance:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        variance="results/{study}/analysis/variance.csv",
    log:
        "results/{study}/logs/decompose_variance.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/variance/decompose_variance"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "decompose_variance.py"
