# Numbers of replications at which interim looks take place, and the documents of these replications, for looks.smk
LOOKS = studies.looks(STUDY)


def documents_up_to(scenario, replications):
    """Return the documents of all cells of a scenario, up to a number of replications."""
    runs = studies.runs({**STUDY, "scenarios": [{"id": scenario}]}, {scenario: replications})
    return [f"results/{STUDY['study']}/runs/{'/'.join(map(str, run))}.json.gz" for run in runs]


def look_at(scenario, replications):
    """Return the file of an interim look. If the file doesn't exist yet, Snakemake takes the look and then evaluates the inputs again."""
    return checkpoints.take_look.get(study=STUDY["study"], scenario=scenario, replications=replications).output[0]


def documents_of(scenario):
    """Return an input function for a scenario's documents; the scenario's interim looks determine the number of replications."""

    def documents(wildcards):
        for replications in LOOKS:
            if not studies.goes_on(look_at(scenario, replications)):
                break
        return documents_up_to(scenario, replications)

    return documents


# No scenario waits for another scenario's looks.
RUN_DOCUMENTS = inside_snakemake.together(*map(documents_of, SCENARIOS))
