# Guest kernels that the study defines: C files, patches, source trees -> kernels/<kernel>/linux, workflow/kernel-<kernel>.json


if KERNELS:

    # Takes seconds, or minutes for a Linux version that is not in the cache yet. The rule runs outside the workflow's containers, because
    # the compiler runs in a separate container that contains nothing else (setup/kernels.py).
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
