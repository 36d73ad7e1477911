# Gate: analysis/expectations.csv, once all else is there -> an exit status


# Behind everything, so that report and tables are complete whatever comes out. The job fails if an expectation isn't met,
# and then leaves no output: the next call looks again and fails again. What it has to say stands in gate.failed, which `onerror`
# of the Snakefile shows last and unbroken.
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
