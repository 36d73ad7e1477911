# Emulation: study -> runs/<scenario>/<cca>/<ip version>/<replication>.json.gz
RUN_DOCUMENTS = [
    f"results/{STUDY['study']}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz"
    for scenario, cca, ip_version, replication in studies.runs(STUDY)
]


def specification(wildcards):
    """Return the run's specification as JSON: all that the testbed gets to know."""
    return json.dumps(
        studies.run_specification(
            STUDY, wildcards.scenario, wildcards.cca, wildcards.ip_version, wildcards.replication
        )
    )


# One run: a guest kernel with its own network and clock. The last line of its log says how it went.
rule emulate_run:
    output:
        document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
    params:
        specification=specification,
        testbed=TESTBED_DIGEST,
        image=TESTBED_IMAGE,
    log:
        "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
    benchmark:
        "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
    container:
        "envs/testbed.sif"
    shell:
        "PYTHONPATH=workflow python3 -B -m testbed --specification {params.specification:q}"
        " --output {output.document:q} 2>{log:q} || {{ tail -n 1 {log:q} >&2; exit 1; }}"
