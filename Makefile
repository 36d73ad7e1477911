# `make help` lists the targets. PYTHON, STUDY, PLATFORM and ARGS may be given: make STUDY=smoke ARGS=-n
# ARGS are passed to the command as typed; every other value is quoted for the shell.
# An empty value in the call means the default, also for the variables whose default isn't empty.
$(foreach name,NS3 PROFILE PYTHON RESULTS SEED,$(if $(value $(name)),,$(eval override undefine $(name))))
comma = ,
quoted = '$(subst ','\'',$(1))'
# The values in $(1), which are separated by spaces, each in quotes. The path of an existing file or folder is one value, even with spaces.
each = $(if $(shell test -e $(call quoted,$(1)) && echo 1),$(call quoted,$(1)),$(foreach one,$(1),$(call quoted,$(one))))
# Variables of the caller's shell that name a study or a CCA. They would be ignored, so make refuses them below.
IN_SHELL := $(foreach name,STUDY STUDIES CCA CCAS PROGRAM,$(if $(filter-out environment,$(origin $(name))),,$(name)))
PYTHON = $(firstword $(wildcard bundle/python3) python3)
ARGS =
# If 1, setup also builds the image of ns-3, which takes another minute; only studies with a platform ns3:<version> need this image.
NS3 = $(if $(findstring ns3,$(PLATFORM) $(ARGS))$(shell grep -s -m 1 'platform: *.\{0,1\}ns3:' $(call quoted,$(CONFIG))),1)
# The name of a study, or the path of its file; if empty, the default study.
STUDY =
# Platform to run the study on instead of its own; results are in results/<study>-<platform>.
PLATFORM =
# Whether STUDY is one of the exams: exam, exam-quick, or the path of their files.
IS_EXAM = $(filter exam exam-quick,$(basename $(notdir $(STUDY))))
# A folder with a Snakemake profile, such as profiles/slurm; it replaces the limit on cores.
PROFILE = $(if $(IS_EXAM),profiles/exam)
SNAKEMAKE = snakemake $(if $(PROFILE),--profile $(call quoted,$(PROFILE)),--cores all --use-apptainer)
# Snakemake uses only the last --config, so PLATFORM is inserted into the --config in ARGS, if there is one.
ON_PLATFORM = $(if $(PLATFORM),--config $(call quoted,platform=$(PLATFORM)))
SNAKEMAKE_ARGS = $(if $(and $(PLATFORM),$(filter --config -C --config=%,$(ARGS))),$(patsubst --config=%,$(ON_PLATFORM) %,$(patsubst -C,$(ON_PLATFORM),$(patsubst --config,$(ON_PLATFORM),$(ARGS)))),$(ON_PLATFORM) $(ARGS))
# The command that prints the results folder of the study file $(1). ARGS may change the folder, as in ARGS='--config study=other'.
print_results = set -- $(SNAKEMAKE_ARGS); $(call quoted,$(PYTHON)) -I workflow/scripts/session/study_names.py --results $(1) "$$@"
RESULTS = $(shell $(call print_results,$(call quoted,$(CONFIG))))
# The command that refuses to continue the results folder $(1) if another image began it.
check_begun = $(if $(filter-out 0,$(RERUN)),true,$(call quoted,$(PYTHON)) setup begun $(1))
N =
SEED = 1
RUNS =
# exam, evaluate: CCA is a kernel's CCA, the path of a C file, the path of a YAML file that defines a CCA, or a stack's CCA
# (quic-go:reno). PROGRAM is a YAML file that declares a program; CCA is then one of the program's CCAs. QUICK=1 runs the short exam.
CCA =
PROGRAM =
QUICK =
# exam: number of additional replications for the scenarios whose rows are open.
MORE =
# exam: exit with a status other than 0 if a deciding row is worse or was not measured.
GATE =
# Two results folders, for compare.
EXAMS =
# gallery: CCAS are the CCAs to examine, each named as for exam, by default all of the kernel's. atlas: STUDIES are names of studies, by
# default all in config/studies/atlas.
# DOCUMENT=1 writes config/gallery.md, or docs/atlas.md.
CCAS =
STUDIES =
DOCUMENT =
# publish: also pack the images. verify: use the images beside RESULTS.
IMAGES =
RERUN =
# verify, packets, trace: also build the kernels of the received results or of the run.
BUILD =
# packets, trace: RUN is the path of a run document. packets: AT names interfaces (all if empty); FULL=1 keeps entire packets.
RUN =
AT =
FULL =
# stack: names of the QUIC stacks in examples/ to build into my/.
STACK =
# selftests: packetdrill's source, the kernel (the image's if empty), and a glob of scripts (all if empty).
PACKETDRILL =
KERNEL =
ONLY =
# bisect: two revisions of the Git repository KERNEL, the condition for a bad run, and in ONLY a glob of cells (all of STUDY if empty).
GOOD =
BAD =
WHEN =
# series: an mbox, patches or a folder of patches, and the kernel to which they apply.
SERIES =
BASE =
# plan: the difference to detect, as in '2 %' or '5 ms' (the study's if empty), a metric (all if empty), and results folders with pilot runs.
DIFFERENCE =
METRIC =
FROM =
# trace: names of kernel events and of TCP functions, which may contain * and ?, separated by spaces.
EVENTS =
FUNCTIONS =
# The command that continues an interrupted workflow, in the shell's words, for the message about the interruption.
CALL = make $(MAKECMDGOALS) $(foreach name,$(sort $(GIVEN)),$(call quoted,$(name)=$(value $(name))))
# An empty PYTHONDONTWRITEBYTECODE counts as unset. Set-up leaves compiling to the first import; if no bytecode were written, each call
# would take 3 s to compile pandas.
IN_ENVIRONMENT = PYTHONDONTWRITEBYTECODE= SAWTOOTH_CALL=$(call quoted,$(CALL)) PATH=$(call quoted,$(CURDIR)/.venv/bin):"$$PATH" PYTHONPATH=$(call quoted,$(CURDIR)/workflow/scripts:$(CURDIR)/workflow)

# Targets, and the variables of each, apart from ARGS, PYTHON and NS3. Variables that a target doesn't use, such as CCA for `make STUDY=...`,
# would be ignored. With a misspelt STUDY, the default study would run.
TARGETS = run study cca packetdrill studies plan setup lint test test-slow test-long test-docs test-faults bench bench-flows kernel-profile bench-statistics sensitivity exam evaluate gallery atlas compare verify packets trace selftests bisect series publish documentation docs bundle images stack lock clean-cache help
OF_run = STUDY PLATFORM PROFILE RERUN
OF_setup = STUDY PLATFORM
OF_plan = STUDY PLATFORM DIFFERENCE METRIC FROM
OF_sensitivity = STUDY PLATFORM N SEED PROFILE RERUN
OF_exam = CCA PROGRAM QUICK MORE GATE PLATFORM PROFILE RERUN
OF_evaluate = STUDY CCA PROGRAM $(if $(IS_EXAM),QUICK) MORE GATE PLATFORM PROFILE RERUN
OF_gallery = CCAS QUICK DOCUMENT PROFILE RERUN
OF_atlas = STUDIES DOCUMENT PROFILE RERUN
OF_compare = EXAMS
OF_verify = RESULTS STUDY PLATFORM N SEED RUNS IMAGES BUILD
OF_packets = RUN AT FULL BUILD
OF_trace = RUN EVENTS FUNCTIONS BUILD
OF_selftests = PACKETDRILL KERNEL ONLY SEED
OF_bisect = KERNEL STUDY GOOD BAD WHEN ONLY
OF_series = SERIES BASE PACKETDRILL CCAS GATE
OF_publish = RESULTS STUDY PLATFORM IMAGES
OF_stack = STACK
GOALS := $(or $(MAKECMDGOALS),run)
USED := $(sort $(foreach goal,$(GOALS),$(OF_$(goal))))
GIVEN := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
# Variables for programs that make calls.
PASSED = SAWTOOTH_% MAKE% APPTAINER% PIP_% PYTEST_% SNAKEMAKE_% UV_% XDG_% LC_% %PROXY %proxy CI COLUMNS HOME LANG NO_COLOR PATH TERM TMPDIR
UNUSED := $(if $(filter-out $(TARGETS),$(GOALS)),,$(firstword $(filter-out $(USED) ARGS PYTHON NS3 $(PASSED),$(GIVEN))))
USERS := $(strip $(foreach target,$(TARGETS),$(if $(filter $(UNUSED),$(OF_$(target))),$(target))))
listed = $(subst $() $(),$(comma) ,$(strip $(1)))
USES = make $(GOALS) uses: $(call listed,$(USED) ARGS PYTHON) (see `make help`)
$(if $(USERS),$(error sawtooth: make $(GOALS) doesn't use $(UNUSED), which is for: $(call listed,$(USERS)); $(USES)))
$(if $(UNUSED),$(error sawtooth: make has no variable $(UNUSED); $(USES)))
NOT_READ := $(firstword $(filter $(USED),$(IN_SHELL)))
$(if $(NOT_READ),$(error sawtooth: $(NOT_READ) is set in the environment, which has no effect; write it after make, as in `make STUDY=smoke`, or unset it))
CONFIG := $(if $(STUDY),$(shell $(call quoted,$(PYTHON)) -I workflow/scripts/session/study_names.py $(call quoted,$(STUDY))),config/config.yaml)

.DEFAULT_GOAL = run
.PHONY: $(TARGETS)

# Runs before set-up, which may take minutes; a problem with the name has already been printed.
study:
	@test -n $(call quoted,$(CONFIG))

run: study setup  ## set up, run the study, make its report; RERUN=1 repeats runs of another image
	@$(call check_begun,$(call quoted,$(RESULTS)))
	@$(RUN_STUDY)
	@test ! -f $(call quoted,$(RESULTS)/report.html) || echo report: $(call quoted,$(RESULTS)/report.html)

# What set-up does: everything if empty. Building the images takes minutes, so targets that need no images only make the environment, and
# for others a command ($(1)) checks their values before images are built. If a call names several targets, set-up does everything, once.
SET_UP =
check_first = --check $(call quoted,$(1))
RUN_STUDY = $(IN_ENVIRONMENT) $(SNAKEMAKE) $(if $(STUDY),--configfile $(call quoted,$(CONFIG))) $(SNAKEMAKE_ARGS)
# Sets `stack` to the name of the stack that the program needs if it isn't built; its CCAs can't be checked then.
FIND_STACK = stack=$(if $(PROGRAM)$(findstring :,$(CCA)),$$($(IN_ENVIRONMENT) python -m session.candidate_programs $(call quoted,$(CCA)) $(call quoted,$(PROGRAM))))
CANDIDATE = $(IN_ENVIRONMENT) python -m session.candidate $(call quoted,$(CCA)) $(call quoted,$(CONFIG)) $(if $(PROGRAM),--program $(call quoted,$(PROGRAM))) $(if $(filter-out 0,$(GATE)),--gate) $(if $(MORE),--more $(call quoted,$(MORE))) $(if $(PLATFORM),--platform $(call quoted,$(PLATFORM)))
EXAMINED = $(IN_ENVIRONMENT) python -m session.candidate "$$cca" config/studies/$(FORM).yaml
FIND_STUDY = case $$study in */*) ;; *) study=$${study%.yaml} ;; esac; $(IN_ENVIRONMENT) python -m session.study_names "$$study"
PERTURB = $(IN_ENVIRONMENT) python -m session.sensitivity write $(call quoted,$(CONFIG)) $(call quoted,$(RESULTS)-sensitivity.yaml) $(if $(N),--count $(call quoted,$(N))) --seed $(call quoted,$(SEED)) $(if $(PLATFORM),--platform $(call quoted,$(PLATFORM)))
VERIFY = $(IN_ENVIRONMENT) python -m publishing.verify_results $(call quoted,$(RESULTS)) $(if $(N),--count $(call quoted,$(N))) --seed $(call quoted,$(SEED)) $(if $(filter-out 0,$(BUILD)),--build) $(if $(RUNS),--runs $(call each,$(RUNS))) $(ARGS)
PACKETS = $(IN_ENVIRONMENT) python -m publishing.run_packets $(call quoted,$(RUN)) $(if $(filter-out 0,$(FULL)),--full) $(if $(filter-out 0,$(BUILD)),--build) $(if $(AT),--at $(call each,$(AT))) $(ARGS)
TRACE = $(IN_ENVIRONMENT) python -m publishing.run_trace $(call quoted,$(RUN)) $(if $(filter-out 0,$(BUILD)),--build) $(if $(EVENTS),--events $(call each,$(EVENTS))) $(if $(FUNCTIONS),--functions $(call each,$(FUNCTIONS))) $(ARGS)
SELFTESTS = $(IN_ENVIRONMENT) python -m kernel_tests.run_selftests $(call quoted,$(PACKETDRILL)) $(if $(KERNEL),--kernel $(call quoted,$(KERNEL))) $(if $(ONLY),--only $(call quoted,$(ONLY))) --seed $(call quoted,$(SEED)) $(ARGS)
BISECT = $(IN_ENVIRONMENT) python -m bisecting.bisect $(call quoted,$(KERNEL)) $(call quoted,$(CONFIG)) --good=$(call quoted,$(GOOD)) --bad=$(call quoted,$(BAD)) --when=$(call quoted,$(WHEN)) $(if $(ONLY),--only=$(call quoted,$(ONLY))) $(ARGS)
PREPARE = $(IN_ENVIRONMENT) python -m sending.before_sending --series $(call each,$(SERIES)) --base=$(call quoted,$(BASE)) $(if $(PACKETDRILL),--packetdrill $(call quoted,$(PACKETDRILL))) $(if $(CCAS),--ccas $(call each,$(CCAS))) $(if $(filter-out 0,$(GATE)),--gate) $(ARGS)
ifeq ($(words $(GOALS)),1)
studies plan compare lint documentation: SET_UP = environment
publish: SET_UP = $(if $(filter-out 0,$(IMAGES)),,environment)
run: SET_UP = $(call check_first,$(RUN_STUDY) --dry-run --quiet all)
sensitivity: SET_UP = $(call check_first,$(PERTURB))
evaluate: SET_UP = $(call check_first,$(FIND_STACK) && { test -n "$$stack" || $(CANDIDATE); })
gallery: SET_UP = $(if $(CCAS),$(call check_first,for cca in $(call each,$(CCAS)); do $(EXAMINED) || exit; done))
atlas: SET_UP = $(if $(STUDIES),$(call check_first,for study in $(call each,$(STUDIES)); do $(FIND_STUDY) || exit; done))
verify: SET_UP = $(call check_first,$(VERIFY) --check)
packets: SET_UP = $(call check_first,$(PACKETS) --check)
trace: SET_UP = $(call check_first,$(TRACE) --check)
selftests: SET_UP = $(call check_first,$(SELFTESTS) --check)
bisect: SET_UP = $(call check_first,$(BISECT) --check)
series: SET_UP = $(call check_first,$(PREPARE) --check)
endif

setup:  ## make the workflow environment and the container images
	@command -v $(call quoted,$(PYTHON)) >/dev/null || { echo 'sawtooth: '$(call quoted,$(PYTHON))' is missing: install Python 3.11 or newer (apt-get install python3), or name one, make PYTHON=...' >&2; exit 1; }
	@$(if $(filter-out 0,$(NS3)),SAWTOOTH_NS3=1 )$(call quoted,$(PYTHON)) setup $(SET_UP)

# These targets need all images.
test test-slow test-long test-docs test-faults bench bundle images: NS3 = 1

studies: setup  ## list the studies: runs, core-hours, disk, what is done
	@$(IN_ENVIRONMENT) python -m session.study_list

plan: study setup  ## print the replications STUDY needs to detect DIFFERENCE; FROM: pilot runs
	@$(IN_ENVIRONMENT) python -m session.plan_study $(call quoted,$(CONFIG)) --difference=$(call quoted,$(DIFFERENCE)) --metric=$(call quoted,$(METRIC)) --platform=$(call quoted,$(PLATFORM)) $(if $(FROM),--from $(call each,$(FROM)))

lint: setup  ## check the code's form, and that generated documentation is up to date
	@$(IN_ENVIRONMENT) ruff check --quiet .
	@$(IN_ENVIRONMENT) ruff format --check --quiet .
	@$(IN_ENVIRONMENT) snakefmt --check Snakefile workflow
	@$(IN_ENVIRONMENT) snakemake --lint
	@$(IN_ENVIRONMENT) python -m documenting.document_configuration --check

test: setup  ## run the tests; ARGS go to pytest
	@test -d tests || { echo 'sawtooth: a bundle has no tests; `make verify` reruns runs and compares bytes' >&2; exit 1; }
	@$(IN_ENVIRONMENT) python -m pytest --numprocesses $$(($$(nproc) + 1)) --dist loadfile -m "not slow and not long" $(ARGS)

test-slow: setup  ## run the slow tests: simulations with known truths, pages of drawn studies
	@$(IN_ENVIRONMENT) python -m pytest --numprocesses $$(($$(nproc) + 1)) --dist loadfile -m "slow and not long" $(ARGS)

test-long: setup  ## run the longest tests: faults, clusters, bundles, 14,400 runs
	@$(IN_ENVIRONMENT) python -m pytest --numprocesses auto --dist loadfile -m long $(ARGS)

test-docs: setup  ## run the commands of README and docs/ in fresh clones
	@$(IN_ENVIRONMENT) python -m pytest --numprocesses auto --dist load tests/documenting -m pages $(ARGS)

test-faults: setup  ## cause faults: killed processes, full disks, damaged files, wrong clocks
	@$(IN_ENVIRONMENT) python -m pytest --numprocesses auto --dist loadfile -m faults $(ARGS)

bench: setup  ## print the speed of the runs and of the analysis
	@$(IN_ENVIRONMENT) python benchmarks/run.py $(ARGS)
	@$(IN_ENVIRONMENT) python benchmarks/analysis.py --report

bench-flows: setup  ## measure how a run's cost grows with flows, rate, length and hosts
	@$(IN_ENVIRONMENT) python benchmarks/many_flows.py $(ARGS)
	@$(IN_ENVIRONMENT) python benchmarks/many_hosts.py

kernel-profile: setup  ## profile the guest kernel's branches again, after a change to its source
	@$(IN_ENVIRONMENT) python benchmarks/kernel_profile.py $(ARGS)

bench-statistics: setup  ## measure error rates of tests and intervals on data with a known truth
	@$(IN_ENVIRONMENT) python benchmarks/error_rate_table.py $(ARGS)

sensitivity: study setup  ## rerun N scenarios of STUDY (drawn by SEED) with details changed
	@$(PERTURB)
	@$(call check_begun,$(call quoted,$(RESULTS)-sensitivity))
	@$(IN_ENVIRONMENT) $(SNAKEMAKE) --configfile $(call quoted,$(RESULTS)-sensitivity.yaml) $(ARGS)
	@$(if $(filter -n --dry-run,$(ARGS)),,$(IN_ENVIRONMENT) python -m session.sensitivity show $(call quoted,$(RESULTS)-sensitivity))

exam:  ## examine CCA or PROGRAM by RFC 9743; QUICK=1, MORE=<runs>, GATE=1
	@$(MAKE) --no-print-directory evaluate $(call quoted,STUDY=exam$(if $(filter-out 0,$(QUICK)),-quick))

# These two also run before set-up.
cca:
	@test -n $(call quoted,$(CCA)$(PROGRAM)) || { echo 'sawtooth: CCA is missing; allowed: a CCA of the kernel, the path of a C file or of a YAML file with a definition, or PROGRAM=<YAML file that declares a program>, as in make evaluate CCA=examples/tcp_aimd.c STUDY=smoke' >&2; exit 1; }

packetdrill:
	@test -n $(call quoted,$(PACKETDRILL)) || { echo 'sawtooth: PACKETDRILL is missing: it is the source of packetdrill, a folder or an archive of its public repository on GitHub, google/packetdrill, as in make selftests PACKETDRILL=../packetdrill' >&2; exit 1; }
	@test -e $(call quoted,$(PACKETDRILL)) || { echo 'sawtooth: PACKETDRILL='$(call quoted,$(PACKETDRILL))': there is no such file or folder' >&2; exit 1; }

evaluate: study cca setup  ## run STUDY with CCA and its own CCAs, results/<study>-<name>
	@$(FIND_STACK) && { test -z "$$stack" || $(call quoted,$(PYTHON)) setup stack "$$stack"; }
	@file=$$($(CANDIDATE)) \
	&& results=$$($(call print_results,"$$file")) && $(call check_begun,"$$results") \
	&& $(IN_ENVIRONMENT) $(SNAKEMAKE) --configfile "$$file" $(SNAKEMAKE_ARGS) \
	&& { test ! -f "$$results/report.html" || echo "report: $$results/report.html"; }

# An exam that can't be finished doesn't stop the others.
gallery: PROFILE = profiles/exam
gallery: FORM = exam$(if $(filter-out 0,$(or $(QUICK),1)),-quick)
gallery: setup  ## examine all CCAs, or CCAS; QUICK=0: long form, DOCUMENT=1: its page
	@folders=; failed=; for cca in $(if $(CCAS),$(call each,$(CCAS)),$$($(IN_ENVIRONMENT) python -m session.gallery --ccas)); do \
	file=$$($(EXAMINED)) && $(call check_begun,"$${file%.yaml}") \
	&& $(IN_ENVIRONMENT) $(SNAKEMAKE) --configfile "$$file" $(ARGS) \
	&& $(IN_ENVIRONMENT) python -m publishing.pack_results "$${file%.yaml}" && folders="$$folders $${file%.yaml}" || failed="$$failed $$cca"; done; \
	test -z "$$failed" || { echo "sawtooth: there is no exam of$$failed; the errors are printed above, and the same command continues from there" >&2; exit 1; }; \
	$(IN_ENVIRONMENT) python -m session.gallery $$folders $(if $(filter-out 0,$(DOCUMENT)),--document)

atlas: setup  ## repeat the results of publications, STUDIES or all; DOCUMENT=1: its page
	@folders=; failed=; for study in $(if $(STUDIES),$(call each,$(STUDIES)),$$(cd config/studies/atlas && echo *.yaml)); do \
	file=$$($(FIND_STUDY)) \
	&& folder=$$($(call print_results,"$$file")) && $(call check_begun,"$$folder") \
	&& $(IN_ENVIRONMENT) $(SNAKEMAKE) --configfile "$$file" $(ARGS) \
	&& $(IN_ENVIRONMENT) python -m publishing.pack_results "$$folder" && folders="$$folders $$folder" || failed="$$failed $$study"; done; \
	test -z "$$failed" || { echo "sawtooth: there are no results of$$failed; the errors are printed above, and the same command continues from there" >&2; exit 1; }; \
	$(IN_ENVIRONMENT) python -m session.atlas $$folders $(if $(filter-out 0,$(DOCUMENT)),--document)

compare: setup  ## print improvements and regressions between the two results folders of EXAMS
	@$(IN_ENVIRONMENT) python -m session.compare_results $(call each,$(EXAMS)) $(ARGS)

ifneq ($(filter-out 0,$(IMAGES)),)
verify: export SAWTOOTH_IMAGES = $(patsubst %.crate.zip,%,$(RESULTS:/=)).images.tar
endif
verify: study setup  ## rerun N runs of RESULTS (by SEED, or RUNS), compare bytes; IMAGES=1, BUILD=1
	@$(VERIFY)

packets: setup  ## capture the packets of a finished run, RUN=<document>; AT, FULL=1
	@$(PACKETS)

selftests: packetdrill setup  ## run the kernel's own TCP tests, PACKETDRILL=<source>; KERNEL, ONLY, SEED
	@$(SELFTESTS)

bisect: study setup  ## find the commit of KERNEL that changed STUDY: GOOD, BAD, WHEN
	@$(BISECT)

series: setup  ## test SERIES on the kernel BASE before you send it; PACKETDRILL, CCAS, GATE=1
	@$(PREPARE)

trace: setup  ## record kernel events of a finished run, RUN=<document>; EVENTS, FUNCTIONS
	@$(TRACE)

publish: study setup  ## pack RESULTS into one archive; IMAGES=1 puts the images beside it
	@$(IN_ENVIRONMENT) python -m publishing.pack_results $(call quoted,$(RESULTS)) $(ARGS)
	@$(if $(filter-out 0,$(IMAGES)),$(call quoted,$(PYTHON)) setup images --of $(call quoted,$(RESULTS)))

documentation: setup  ## write config/README.md and config/data-dictionary.md again
	@$(IN_ENVIRONMENT) python -m documenting.document_configuration $(ARGS)

docs:  ## build docs/ as a site, site/index.html; a broken link is an error
	@$(call quoted,$(PYTHON)) setup docs
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs --quiet build --strict $(ARGS)
	@echo site: site/index.html

bundle: setup  ## pack workflow, images and environment for machines without network
	@$(call quoted,$(PYTHON)) setup bundle $(ARGS)

images: setup  ## pack the images (or those in ARGS) into sawtooth.images.tar
	@$(call quoted,$(PYTHON)) setup images $(ARGS)

stack: setup  ## build QUIC stacks of examples/ into my/: STACK="quinn quic-go"
	@$(call quoted,$(PYTHON)) setup stack $(call each,$(STACK))

lock: ## resolve envs/*.in again into envs/*.lock
	@$(call quoted,$(PYTHON)) setup lock

clean-cache:  ## delete the files kept outside the checkout: images, tools, run cache
	@$(call quoted,$(PYTHON)) setup clean-cache

refuse_target = @echo 'sawtooth: make has no target '$(call quoted,$@)': `make help` lists them, and a study is run by `make STUDY=...`' >&2; exit 2
.DEFAULT:
	$(refuse_target)

# A misspelt target that is the name of a file or folder, such as tests, would count as up to date.
FILES := $(wildcard $(filter-out $(TARGETS),$(MAKECMDGOALS)))
ifneq ($(FILES),)
.PHONY: $(FILES)
$(FILES):
	$(refuse_target)
endif

help:
	@sed -n 's/^\([a-z-]*\):[a-z ]*## /make \1\t/p' Makefile | expand -t 23
