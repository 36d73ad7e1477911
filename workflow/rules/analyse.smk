# Analysis: tidy tables -> analysis/*.csv: what is described, tested, fitted, and claimed


# Mean with interval, spread and normality of each metric in each cell.
rule describe_cells:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=modules_of("describe_cells"),
    output:
        descriptive="results/{study}/analysis/descriptive.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/describe_cells.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/describe_cells.py"


# Valid and excluded runs of each cell, passed and failed runs of each check.
rule summarise_validity:
    input:
        runs="results/{study}/tidy/runs.csv",
        checks="results/{study}/tidy/checks.csv",
        modules=modules_of("summarise_validity"),
    output:
        validity="results/{study}/analysis/validity.csv",
        checks="results/{study}/analysis/checks.csv",
    params:
        image=ANALYSIS_IMAGE,
    log:
        "results/{study}/logs/summarise_validity.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/summarise_validity.py"


# IPv6 against IPv4 in each cell: paired tests, effect sizes, equivalence, power.
rule compare_ip_versions:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=modules_of("compare_ip_versions"),
    output:
        ip_versions="results/{study}/analysis/ip_versions.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        power=POWER,
        resamples=RESAMPLES,
        seed=STUDY["seed"],
        margins=studies.differences(STUDY["analysis"]["equivalence_margin"]),
        detect=studies.differences(STUDY["analysis"]["detect"]),
    log:
        "results/{study}/logs/compare_ip_versions.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_ip_versions.py"


# IPv6 against IPv4 over all cells: stratified tests, and the pooled one that was published.
rule compare_overall:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=modules_of("compare_overall"),
    output:
        ip_overall="results/{study}/analysis/ip_overall.csv",
    params:
        image=ANALYSIS_IMAGE,
        significance=SIGNIFICANCE,
    log:
        "results/{study}/logs/compare_overall.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_overall.py"


# CCA against CCA in each scenario and IP version, all together and pair by pair.
rule compare_ccas:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=modules_of("compare_ccas"),
    output:
        ccas="results/{study}/analysis/ccas.csv",
        cca_pairs="results/{study}/analysis/cca_pairs.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
    log:
        "results/{study}/logs/compare_ccas.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_ccas.py"


# Tables 3 and 5 of the paper: everything pooled by IP version, as it was published.
rule describe_pooled:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=modules_of("describe_pooled"),
    output:
        pooled="results/{study}/analysis/pooled.csv",
        pooled_tests="results/{study}/analysis/pooled_tests.csv",
    params:
        image=ANALYSIS_IMAGE,
        significance=SIGNIFICANCE,
    log:
        "results/{study}/logs/describe_pooled.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/describe_pooled.py"


# Measured over model: square-root law, CUBIC's response function, full link, full queue.
rule fit_models:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("fit_models"),
    output:
        models="results/{study}/analysis/models.csv",
        regressions="results/{study}/analysis/regressions.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/fit_models.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/fit_models.py"


# Each claim of the paper: ours with its interval, and the verdict.
rule check_claims:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        modules=modules_of("check_claims"),
    output:
        claims="results/{study}/analysis/claims.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        resamples=RESAMPLES,
        seed=STUDY["seed"],
        claims=CLAIMS,
    log:
        "results/{study}/logs/check_claims.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/check_claims.py"


# Runs in which another CCA ran than the one asked for, beside the two that they might be.
rule find_mislabelled:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        provenance="results/{study}/tidy/provenance.json",
        modules=modules_of("find_mislabelled"),
    output:
        mislabelled="results/{study}/analysis/mislabelled.csv",
    params:
        image=ANALYSIS_IMAGE,
    log:
        "results/{study}/logs/find_mislabelled.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/find_mislabelled.py"
