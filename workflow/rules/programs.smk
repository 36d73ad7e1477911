# Files of declared programs: where the user keeps them -> programs/<files>.tar


if PROGRAMS:

    # A copy with the study: its runs have these bytes, whatever becomes of the files.
    rule lay_in_program:
        input:
            files=ancient(lambda wildcards: users(PROGRAMS[wildcards.program]["path"])),
        output:
            archive="results/{study}/programs/{program}.tar",
        log:
            "results/{study}/logs/programs/{program}.log",
        wildcard_constraints:
            program="|".join(PROGRAMS),
        params:
            python=sys.executable,
            sha256=lambda wildcards: PROGRAMS[wildcards.program]["sha256"],
        shell:
            f"PYTHONPATH={in_command(own('workflow'))} {{params.python:q}} -m testbed.machine.program_files"
            " {input.files:q} {params.sha256:q} {output.archive:q} 2>&1 | tee {log:q}"
