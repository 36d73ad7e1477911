# Looks: the runs of a scenario so far -> logs/looks/<scenario>/<replications>.json, which says whether it needs more


LOOKS = studies.looks(STUDY)


def documents_up_to(scenario, replications):
    """Return the documents of all cells of a scenario up to a replication."""
    runs = studies.runs({**STUDY, "scenarios": [{"id": scenario}]}, {scenario: replications})
    return [f"results/{STUDY['study']}/runs/{'/'.join(map(str, run))}.json.gz" for run in runs]


def look_at(scenario, replications):
    """Return the file of a look; until there is one, Snakemake takes it first and asks again."""
    return checkpoints.take_look.get(study=STUDY["study"], scenario=scenario, replications=replications).output[0]


def documents_of(scenario):
    """Return the input function of a scenario's documents, as many replications as its looks ask for."""

    def documents(wildcards):
        for replications in LOOKS:
            if not studies.goes_on(look_at(scenario, replications)):
                break
        return documents_up_to(scenario, replications)

    return documents


# No scenario waits for another's looks.
RUN_DOCUMENTS = inside_snakemake.together(*map(documents_of, SCENARIOS))


# Whether the means of a scenario's cells are known precisely enough. The last look ends it in any case.
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
        # What another scenario or the report is changed to makes no look stale.
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
