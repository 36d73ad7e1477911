# Emulation, measurement and simulation: study -> runs/<scenario>/<cca>/<ip version>/<replication>.json.gz


# A profile says how many runs a job carries (`set-resources`): one on a machine, many on a cluster.
if EMULATED and RUNS_PER_JOB == 1:

    # One run: a guest kernel with its own network and clock. The last line of its log says how it went.
    rule emulate_run:
        input:
            kernel=kernel_file(),
            programs=program_archives(),
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
            mem_mb=job_memory,
            runtime=job_minutes(1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT

elif EMULATED:

    # What a call or profile sets for `emulate_run` holds for these jobs too.
    SET_FOR_EACH_JOB = {name: value for name, value in RUN_RESOURCES.items() if name != "runs"}

    # The n-th job of a scenario: several runs, one after another. Each is kept as soon as it is
    # whole (`update`), and a job that is started again carries out those that are missing.
    for number, job in enumerate(studies.job_runs(STUDY, RUNS_PER_JOB), 1):

        rule:
            name:
                f"emulate_runs_{number}"
            input:
                kernel=kernel_file(job[0][0]),
                programs=program_archives(job[0][0]),
            output:
                update(
                    [
                        f"results/{{study}}/runs/{{scenario}}/{cca}/{ip_version}/{replication}.json.gz"
                        for cca, ip_version, replication in job
                    ]
                ),
            log:
                f"results/{{study}}/logs/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.log",
            benchmark:
                f"results/{{study}}/benchmarks/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.tsv"
            wildcard_constraints:
                scenario=EMULATED,
            container:
                "envs/testbed.sif"
            resources:
                **{
                    "mem_mb": job_memory,
                    "runtime": job_minutes(RUNS_PER_JOB),
                    "wall_limit_s": lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
                }
                | SET_FOR_EACH_JOB,
            params:
                conditions=conditions_of(job[0][-1], job[0][0]),
                study_seed=STUDY["seed"],
                testbed=TESTBED_DIGEST,
                image=TESTBED_IMAGE,
                job=job_with(log=f"{RESULTS}/{{study}}/logs/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.log"),
            shell:
                CARRY_OUT


if MEASURED:

    # One run under the machine's own kernel and clock. It has all cores, so that nothing of this workflow goes
    # on beside it; of others it waits for those that have one (`testbed.machine.machine.whole_machine`).
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
            mem_mb=job_memory,
            runtime=lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], 1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT


if SIMULATED:

    # One run in the ns-3 simulator: minutes, so always a job of its own.
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
            mem_mb=job_memory,
            runtime=lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], 1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=MADE_BY["ns3"]["testbed_digest"],
            image=MADE_BY["ns3"]["image_digest"],
            job=job_with(),
        shell:
            CARRY_OUT
