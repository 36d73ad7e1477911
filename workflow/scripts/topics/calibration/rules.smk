# Calibration: run documents -> analysis/readings.csv


# What the documents say of the path, a row a run. Read from the documents themselves: other studies have no use for
# these numbers among their tidy tables.
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
