# Platforms: runs of the same conditions on kernels and in a simulator -> analysis/platforms.csv, platform_causes.csv,
# platform_starts.csv, kernel_environments.csv


# Each two platforms in the same conditions: difference, interval, agreement within the study's tolerance.
rule compare_platforms:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        intervals="results/{study}/tidy/intervals.parquet",
        sockets="results/{study}/tidy/sockets.parquet",
        provenance="results/{study}/tidy/provenance.json",
    output:
        platforms="results/{study}/analysis/platforms.csv",
        platform_causes="results/{study}/analysis/platform_causes.csv",
        platform_starts="results/{study}/analysis/platform_starts.csv",
        kernel_environments="results/{study}/analysis/kernel_environments.csv",
    log:
        "results/{study}/logs/compare_platforms.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/platforms/compare_platforms"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        agreement=STUDY["analysis"]["agreement"],
    script:
        "compare_platforms.py"
