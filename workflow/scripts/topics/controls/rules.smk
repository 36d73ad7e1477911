# Controls: runs and controls -> arms -> the comparisons of IP versions and of CCAs -> analysis/{aa_tests,aa_summary}.csv


# The IP versions of the study that are compared with themselves, if the study compares IP versions.
ARMS_OF_VERSIONS = list(STUDY["ip_versions"]) if OF_IP_VERSIONS in comparisons_of(DESIGN) else []
ANALYSES = {analysis.script: analysis for analysis in OUTLINE.analyses}
ARMS_OF_CCAS = ["ccas"] if OF_CCAS in comparisons_of(DESIGN) else []


# Runs and control runs under the names of levels that the comparisons expect.
rule name_arms:
    input:
        runs="results/{study}/tidy/runs.csv",
        controls="results/{study}/tidy/controls.csv",
    output:
        ip_versions=temp([f"results/{{study}}/controls/{version}/runs.csv" for version in ARMS_OF_VERSIONS]),
        ccas=temp([f"results/{{study}}/controls/{name}/runs.csv" for name in ARMS_OF_CCAS]),
    log:
        "results/{study}/logs/name_arms.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/controls/name_arms"),
        image=ANALYSIS_IMAGE,
        ip_versions=ARMS_OF_VERSIONS,
    script:
        "name_arms.py"


# The study's own comparisons, with the same scripts and parameters, applied to other tables.
if ARMS_OF_VERSIONS:

    rule compare_arms_by_ip_version:
        input:
            runs="results/{study}/controls/{ip_version}/runs.csv",
        output:
            ip_versions=temp("results/{study}/controls/{ip_version}/ip_versions.csv"),
        log:
            "results/{study}/logs/compare_arms_by_ip_version/{ip_version}.log",
        container:
            "envs/analysis.sif"
        params:
            calls=analysis_rule([ANALYSES["ip_version/compare_ip_versions"]], DESIGN, SETTINGS)["calls"],
            code=code_of("topics/carry_out", "topics/ip_version/compare_ip_versions"),
            image=ANALYSIS_IMAGE,
        script:
            "../carry_out.py"


if ARMS_OF_CCAS:

    rule compare_arms_by_cca:
        input:
            runs="results/{study}/controls/ccas/runs.csv",
        output:
            ccas=temp("results/{study}/controls/ccas/ccas.csv"),
            cca_pairs=temp("results/{study}/controls/ccas/cca_pairs.csv"),
        log:
            "results/{study}/logs/compare_arms_by_cca.log",
        container:
            "envs/analysis.sif"
        params:
            calls=analysis_rule([ANALYSES["ccas/compare_ccas"]], DESIGN, SETTINGS)["calls"],
            code=code_of("topics/carry_out", "topics/ccas/compare_ccas"),
            image=ANALYSIS_IMAGE,
        script:
            "../carry_out.py"


rule count_false_alarms:
    input:
        ip_versions=[f"results/{{study}}/controls/{version}/ip_versions.csv" for version in ARMS_OF_VERSIONS],
        ccas=[f"results/{{study}}/controls/{name}/cca_pairs.csv" for name in ARMS_OF_CCAS],
    output:
        aa_tests="results/{study}/analysis/aa_tests.csv",
        aa_summary="results/{study}/analysis/aa_summary.csv",
    log:
        "results/{study}/logs/count_false_alarms.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/controls/count_false_alarms"),
        image=ANALYSIS_IMAGE,
        ip_versions=ARMS_OF_VERSIONS,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
    script:
        "count_false_alarms.py"
