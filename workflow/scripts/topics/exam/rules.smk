# The exam: tidy tables -> analysis/exam_values.csv -> analysis/scorecard.csv, analysis/exam_published.csv


# What the criteria of RFC 9743 ask of each valid run.
rule measure_exam:
    input:
        # As far as the study has some.
        **{
            name: f"results/{{study}}/tidy/{name}.csv"
            for name, has in (
                ("changes", DESIGN.changing_scenarios),
                ("groups", any(scenario["groups"] for scenario in STUDY["scenarios"])),
            )
            if has
        },
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        queue="results/{study}/tidy/queue.parquet",
    output:
        exam_values="results/{study}/analysis/exam_values.csv",
    log:
        "results/{study}/logs/measure_exam.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/exam/measure_exam"),
        image=ANALYSIS_IMAGE,
        limits=STUDY["exam"]["limits"],
    script:
        "measure_exam.py"


# The CCA under examination held against the standard CCAs and the limits, criterion by criterion; all CCAs against what is published.
rule judge_exam:
    input:
        exam_values="results/{study}/analysis/exam_values.csv",
        runs="results/{study}/tidy/runs.csv",
    output:
        scorecard="results/{study}/analysis/scorecard.csv",
        exam_published="results/{study}/analysis/exam_published.csv",
    log:
        "results/{study}/logs/judge_exam.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/exam/judge_exam"),
        image=ANALYSIS_IMAGE,
        exam=STUDY["exam"],
        scenarios={scenario["id"]: scenario["label"] for scenario in STUDY["scenarios"]},
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
    script:
        "judge_exam.py"
