# As published: runs -> analysis/{pooled,pooled_tests}.csv


# Tables 3 and 5 of the paper: everything pooled by IP version, as it was published.
rule describe_pooled:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        pooled="results/{study}/analysis/pooled.csv",
        pooled_tests="results/{study}/analysis/pooled_tests.csv",
    log:
        "results/{study}/logs/describe_pooled.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/published/describe_pooled"),
        image=ANALYSIS_IMAGE,
        significance=SETTINGS["significance"],
    script:
        "describe_pooled.py"
