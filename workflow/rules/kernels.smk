# Guest kernels with C files of the study's own: files -> kernels/<kernel>/linux, workflow/kernel-<kernel>.json


if KERNELS:

    # A few seconds; outside of the workflow's containers, for the compiler gets one of its own that sees nothing else (setup/kernels.py).
    rule build_kernel:
        input:
            files=ancient(lambda wildcards: [one.source for one in KERNELS[wildcards.kernel]]),
        output:
            linux="results/{study}/kernels/{kernel}/linux",
            description="results/{study}/workflow/kernel-{kernel}.json",
        log:
            "results/{study}/logs/kernels/{kernel}.log",
        wildcard_constraints:
            kernel="|".join(KERNELS),
        params:
            python=sys.executable,
            files=lambda wildcards: [f"{one.source}={one.sha256}" for one in KERNELS[wildcards.kernel]],
        shell:
            f"{{params.python:q}} {in_command(own('setup'))} kernel"
            " {wildcards.kernel:q} {output.linux:q} {output.description:q} {params.files:q} 2>&1 | tee {log:q}"
