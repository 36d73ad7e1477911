# Guest kernels of the study's own: C files, patches, source trees -> kernels/<kernel>/linux, workflow/kernel-<kernel>.json


if KERNELS:

    # Seconds, and minutes for a Linux that the cache does not have yet; outside of the workflow's containers, for the compiler gets one of
    # its own that sees nothing else (setup/kernels.py).
    rule build_kernel:
        input:
            files=ancient(lambda wildcards: files_of_kernel(wildcards.kernel)),
        output:
            linux="results/{study}/kernels/{kernel}/linux",
            description="results/{study}/workflow/kernel-{kernel}.json",
        log:
            "results/{study}/logs/kernels/{kernel}.log",
        wildcard_constraints:
            kernel="|".join(KERNELS),
        params:
            python=sys.executable,
            made_of=lambda wildcards: [
                *([json.dumps(KERNELS[wildcards.kernel][0])] if KERNELS[wildcards.kernel][0] else []),
                *(f"{one.source}={one.sha256}" for one in KERNELS[wildcards.kernel][1]),
            ],
        shell:
            f"{{params.python:q}} {in_command(own('setup'))} kernel"
            " {wildcards.kernel:q} {output.linux:q} {output.description:q} {params.made_of:q} 2>&1 | tee {log:q}"
