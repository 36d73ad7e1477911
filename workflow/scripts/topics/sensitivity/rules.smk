# Sensitivity: analysis/{ip_versions,cca_pairs}.csv -> analysis/sensitivity.csv


# What is concluded of perturbed scenarios, beside what is concluded of the scenarios as they are.
rule compare_perturbed:
    input:
        ip_versions=["results/{study}/analysis/ip_versions.csv"] * DESIGN.ip_versions_compared,
        cca_pairs=["results/{study}/analysis/cca_pairs.csv"] * (not DESIGN.mixes),
    output:
        sensitivity="results/{study}/analysis/sensitivity.csv",
    log:
        "results/{study}/logs/compare_perturbed.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/sensitivity/compare_perturbed"),
        image=ANALYSIS_IMAGE,
        significance=SETTINGS["significance"],
    script:
        "compare_perturbed.py"
