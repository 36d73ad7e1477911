# Guest kernels with C files of the study's own: files -> kernels/<kernel>/linux, workflow/kernel-<kernel>.json
LINUX_SHA256 = image_fact("envs/testbed.json", "linux_sha256")
KERNELS = kernels_of(STUDY, LINUX_SHA256) if "uml" in PLATFORMS.values() else {}


def kernel_file(cca=None):
    """Return the function of a job's input: the kernel that its CCA or mix needs besides the image's, if any."""

    def file(wildcards):
        name = kernel_id(LINUX_SHA256, sources_of(STUDY, cca or wildcards.cca))
        return [os.path.join("results", wildcards.study, "kernels", name, "linux")] if name else []

    return ancient(file)


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
            "{params.python:q} setup kernel {wildcards.kernel:q} {output.linux:q} {output.description:q} {params.files:q} 2>&1 | tee {log:q}"
