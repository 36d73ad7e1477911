# Theory: runs -> analysis/{models,regressions}.csv


# Measured over model: square-root law, CUBIC's response function, full link, full queue.
rule fit_models:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        models="results/{study}/analysis/models.csv",
        regressions="results/{study}/analysis/regressions.csv",
    log:
        "results/{study}/logs/fit_models.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/theory/fit_models"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "fit_models.py"
