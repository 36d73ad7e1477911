# IP version: runs -> analysis/{ip_versions,ip_overall}.csv


# IPv6 against IPv4 in each cell: paired tests, effect, equivalence, collapses, power.
rule compare_ip_versions:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        ip_versions="results/{study}/analysis/ip_versions.csv",
    log:
        "results/{study}/logs/compare_ip_versions.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/ip_version/compare_ip_versions"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        power=SETTINGS["power"],
        margins=differences(STUDY["analysis"]["equivalence_margin"]),
        header_margin=STUDY["analysis"]["equivalence_margin"]["header_percent"],
        detect=differences(STUDY["analysis"]["detect"]),
    script:
        "compare_ip_versions.py"


# IPv6 against IPv4 over all cells: their mean, and the pooled test that was published.
rule compare_overall:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        ip_overall="results/{study}/analysis/ip_overall.csv",
    log:
        "results/{study}/logs/compare_overall.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/ip_version/compare_overall"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        margins=differences(STUDY["analysis"]["equivalence_margin"]),
        header_margin=STUDY["analysis"]["equivalence_margin"]["header_percent"],
    script:
        "compare_overall.py"
