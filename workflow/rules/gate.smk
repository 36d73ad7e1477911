# Gate, after everything else exists: analysis/expectations.csv -> exit status


# Runs last, so that report and tables are complete whatever the result. If an expectation isn't met, the job fails and leaves
# no output, so the next call checks again and fails again. The message is in gate.failed; `onerror` in the Snakefile prints
# this file last and in one piece.
rule judge_study:
    input:
        expectations="results/{study}/analysis/expectations.csv",
        manifest="results/{study}/ro-crate-metadata.json",
    output:
        passed=touch("results/{study}/logs/gate.passed"),
    log:
        "results/{study}/logs/judge.log",
    retries: 0
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/expectations/judge_study"),
        configfile=STUDY_FILE,
        platform=CONFIG_GIVEN.get("platform"),
    script:
        "../scripts/topics/expectations/judge_study.py"
