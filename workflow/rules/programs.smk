# Files of declared programs: the user's copies -> programs/<program>.tar


if PROGRAMS:

    # Archives a program's files in the study's results. Runs use the archive even if the user's files change or disappear.
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
