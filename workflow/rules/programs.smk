# Files of declared programs: where the user keeps them -> programs/<files>.tar


if PROGRAMS:

    # A copy with the study: its runs have these bytes, whatever becomes of the files.
    rule lay_in_program:
        input:
            # They are needed no longer once they are archived.
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
