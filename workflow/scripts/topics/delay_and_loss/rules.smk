# Delay and loss: runs -> analysis/delay_percentiles.csv


# Percentiles of delays and completion times over replications, with intervals by order statistics.
rule estimate_percentiles:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        delay_percentiles="results/{study}/analysis/delay_percentiles.csv",
    log:
        "results/{study}/logs/estimate_percentiles.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/delay_and_loss/estimate_percentiles"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "estimate_percentiles.py"
