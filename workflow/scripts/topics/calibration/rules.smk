# Calibration: run documents -> analysis/readings.csv


# The readings of the path in each run document, one row per run. They are read from the documents themselves because other studies
# don't need these numbers in their tidy tables.
rule read_instruments:
    input:
        documents=RUN_DOCUMENTS,
        in_order="results/{study}/logs/documents-in-order.txt",
    output:
        readings="results/{study}/analysis/readings.csv",
    log:
        "results/{study}/logs/read_instruments.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/calibration/read_instruments"),
        image=ANALYSIS_IMAGE,
        made_by=MADE_BY,
        study=studies.measured(STUDY),
    script:
        "read_instruments.py"
