# Interim looks: the runs of a scenario so far -> logs/looks/<scenario>/<replications>.json (whether the scenario needs more runs)


# Decides whether the means of a scenario's cells are precise enough. After the last look, no more runs are added in any case.
checkpoint take_look:
    input:
        documents=lambda wildcards: documents_up_to(wildcards.scenario, int(wildcards.replications)),
    output:
        look="results/{study}/logs/looks/{scenario}/{replications}.json",
    log:
        "results/{study}/logs/looks/{scenario}/{replications}.log",
    wildcard_constraints:
        replications="|".join(map(str, LOOKS)),
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/precision/take_look"),
        image=ANALYSIS_IMAGE,
        made_by=MADE_BY,
        confidence=SETTINGS["confidence"],
        # Only the keys on which a look depends, so that a change to another scenario or to the report makes no look stale.
        study=lambda wildcards: {
            key: STUDY[key]
            for key in (
                "study",
                "seed",
                "replications",
                "controls",
                "ccas",
                "cca_definitions",
                "ip_versions",
                "steady_state",
            )
        }
        | {"scenarios": [scenario for scenario in STUDY["scenarios"] if scenario["id"] == wildcards.scenario]},
    script:
        "../scripts/topics/precision/take_look.py"
