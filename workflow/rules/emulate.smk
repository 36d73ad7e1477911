# Emulation, measurement and simulation: study -> runs/<scenario>/<cca>/<ip version>/<replication>.json.gz


# A profile sets the number of runs per job (`set-resources`): one on a single machine, many on a cluster.
if EMULATED and JOB_SIZE.runs == 1:

    # One run: a guest kernel with its own network and clock. The last line of the log reports the outcome.
    rule emulate_run:
        input:
            kernel=ancient(lambda wildcards: kernel_for(wildcards.scenario, wildcards.cca)),
            programs=ancient(lambda wildcards: archives_for(wildcards.scenario, wildcards.cca)),
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=EMULATED,
        container:
            "envs/testbed.sif"
        resources:
            **ONE_RUN,
        params:
            conditions=lambda wildcards: conditions_of(wildcards.scenario, wildcards.cca, wildcards.replication),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT

elif EMULATED:

    # A job executes several runs in sequence. Each document is kept once it is complete (`update`), so a restarted
    # job executes only the missing runs.
    for number, runs in enumerate(
        studies.job_runs(STUDY, *JOB_SIZE, seconds_of=expected_s, needs_of=needs_of, scenarios=SCENARIOS_OF["uml"]), 1
    ):
        job_log = f"results/{STUDY['study']}/logs/jobs/{number}.log"

        rule:
            name:
                f"emulate_runs_{number}"
            input:
                kernel=ancient(kernel_for(*runs[0][:2])),
                programs=ancient(archives_for(*runs[0][:2])),
            output:
                update([document_of(run) for run in runs]),
            log:
                job_log,
            benchmark:
                f"results/{STUDY['study']}/benchmarks/jobs/{number}.tsv"
            container:
                "envs/testbed.sif"
            resources:
                **{
                    "mem_mb": max(memory_of(scenario) for scenario, *_ in runs),
                    "runtime": job_runtime_min(sum(seconds_of(scenario) for scenario, *_ in runs)),
                    "wall_limit_s": max(limit_of(scenario) for scenario, *_ in runs),
                }
                | SET_FOR_RUNS,
            params:
                conditions=conditions_of_all,
                study_seed=STUDY["seed"],
                testbed=TESTBED_DIGEST,
                image=TESTBED_IMAGE,
                job=job_with(log=inside_snakemake.path_in_module(workflow, job_log)),
            shell:
                CARRY_OUT

    # For each document, record what a job with a single run would record.
    inside_jobs.record_for_each_output(workflow, "emulate_runs", conditions_of_document)
    inside_messages.show_as_one_rule("emulate_runs")


if MEASURED:

    # One run under the machine's own kernel and clock. The job occupies all cores, so that no other job of this workflow runs
    # at the same time. It waits until no run of another workflow holds a core (`testbed.machine.machine.whole_machine`).
    rule measure_run:
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=MEASURED,
        container:
            "envs/testbed.sif"
        threads: workflow.cores or 1
        resources:
            **ONE_RUN,
        params:
            conditions=lambda wildcards: conditions_of(wildcards.scenario, wildcards.cca, wildcards.replication),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT


if SIMULATED:

    # One run in the ns-3 simulator. A run takes minutes, so it is always a separate job.
    rule simulate_run:
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=SIMULATED,
        container:
            "envs/ns3.sif"
        resources:
            **ONE_RUN,
        params:
            conditions=lambda wildcards: conditions_of(wildcards.scenario, wildcards.cca, wildcards.replication),
            study_seed=STUDY["seed"],
            testbed=MADE_BY["ns3"]["testbed_digest"],
            image=MADE_BY["ns3"]["image_digest"],
            job=job_with(),
        shell:
            CARRY_OUT
