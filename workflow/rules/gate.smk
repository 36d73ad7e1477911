# Gate: analysis/expectations.csv, once all else is there -> an exit status


# Behind everything, so that report and tables are complete whatever comes out. The job fails if an expectation isn't met,
# and then leaves no output: the next call looks again and fails again. What it has to say stands in gate.failed, which `onerror`
# of the Snakefile shows last and unbroken.
rule judge:
    input:
        expectations="results/{study}/analysis/expectations.csv",
        manifest="results/{study}/ro-crate-metadata.json",
    output:
        passed=touch("results/{study}/logs/gate.passed"),
    log:
        "results/{study}/logs/judge.log",
    retries: 0
    params:
        python=sys.executable,
        code=code_of("session/gate"),
    shell:
        f"PYTHONPATH={in_command(own('workflow/scripts'))}:{in_command(own('workflow'))} {{params.python:q}}"
        f" -m session.gate {in_command(RESULTS)}/{{wildcards.study:q}} 2>{{log:q}}"
