# The workflow is in workflow/Snakefile, where the catalog of Snakemake workflows expects it.
include: "workflow/Snakefile"


# Snakemake takes no default target from an included file.
inside_snakemake.set_default_target(workflow, "all")
