# CCAs: runs -> analysis/{ccas,cca_pairs}.csv


# CCA against CCA in each scenario and IP version, all together and pair by pair.
rule compare_ccas:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        ccas="results/{study}/analysis/ccas.csv",
        cca_pairs="results/{study}/analysis/cca_pairs.csv",
    log:
        "results/{study}/logs/compare_ccas.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/ccas/compare_ccas"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
    script:
        "compare_ccas.py"
