# The workflow is workflow/Snakefile, which the catalog of workflows looks for.
include: "workflow/Snakefile"


# Snakemake takes no target from a file that is included.
inside_snakemake.set_default_target(workflow, "all")
