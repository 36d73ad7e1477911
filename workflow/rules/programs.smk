# Files of declared programs, as kept by the user -> programs/<files>.tar


if PROGRAMS:

    # A copy in the study's results: the runs use these bytes, even if the user's files change or disappear.
    rule lay_in_program:
        input:
            # The files are no longer needed once they are archived.
            files=ancient(lambda wildcards: list(filter(os.path.exists, [files_of_program(wildcards)]))),
        output:
            archive="results/{study}/programs/{program}.tar",
        log:
            "results/{study}/logs/programs/{program}.log",
        wildcard_constraints:
            program="|".join(PROGRAMS),
        params:
            python=sys.executable,
            path=files_of_program,
            sha256=lambda wildcards: PROGRAMS[wildcards.program]["sha256"],
        shell:
            f"PYTHONPATH={in_command(own('workflow'))} {{params.python:q}} -m testbed.machine.program_files"
            " {params.path:q} {params.sha256:q} {output.archive:q} 2>&1 | tee {log:q}"
