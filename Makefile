# `make help` says what there is. PYTHON, STUDY and ARGS may be given: make STUDY=smoke ARGS=-n
PYTHON = python3
ARGS =
STUDY =
RESULTS = results/$(shell sed -n 's/^study: *\([a-z0-9.-]*\).*/\1/p' $(CONFIG))
N = 10
SEED = 1
RUNS =
CONFIG = $(if $(STUDY),config/studies/$(STUDY).yaml,config/config.yaml)
IN_ENVIRONMENT = PATH="$(CURDIR)/.venv/bin:$$PATH"

.PHONY: run setup test bench verify publish bundle lock clean-cache help

run: setup  ## set up and run the study, report included
	@$(IN_ENVIRONMENT) snakemake --cores all --use-apptainer $(if $(STUDY),--configfile $(CONFIG)) $(ARGS)
	@sed -n 's|^study: *\([a-z0-9.-]*\).*|report: results/\1/report.html|p' $(CONFIG)

setup:  ## make the workflow environment and the container images
	@command -v $(PYTHON) >/dev/null || { echo "sawtooth: $(PYTHON) is missing: install Python 3.11 or newer (apt-get install python3), or name one, make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) setup

test: setup  ## set up and pass the tests; ARGS go to pytest
	@$(IN_ENVIRONMENT) python -m pytest $(ARGS)

bench: setup  ## set up and print the speed of the runs and of the analysis
	@$(IN_ENVIRONMENT) python benchmarks/run.py $(ARGS)
	@$(IN_ENVIRONMENT) python benchmarks/analysis.py --report

verify: setup  ## rerun N runs of RESULTS, drawn by SEED or named in RUNS, and compare bytes
	@$(IN_ENVIRONMENT) python workflow/scripts/verify_results.py $(RESULTS) --count $(N) --seed $(SEED) $(if $(RUNS),--runs $(RUNS)) $(ARGS)

publish: setup  ## pack RESULTS, manifest included, into one archive to publish
	@$(IN_ENVIRONMENT) python workflow/scripts/pack_results.py $(RESULTS) $(ARGS)

bundle: setup  ## pack workflow, images and environment for machines without network
	@$(PYTHON) setup bundle

lock: ## resolve envs/*.in anew into envs/*.lock
	@$(PYTHON) setup lock

clean-cache:  ## delete all images and tools that set-up keeps outside the checkout
	@$(PYTHON) setup clean-cache

help:
	@sed -n 's/^\([a-z-]*\):[a-z ]*## /make \1\t/p' Makefile | expand -t 20
