# Calibration: run documents, scenarios -> analysis/readings.csv -> analysis/calibration.csv


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


# Each quantity of each scenario against an exact number.
rule measure_errors:
    input:
        readings="results/{study}/analysis/readings.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        calibration="results/{study}/analysis/calibration.csv",
    log:
        "results/{study}/logs/measure_errors.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/calibration/measure_errors"),
        image=ANALYSIS_IMAGE,
    script:
        "measure_errors.py"
