# Packet size: runs and flows -> analysis/size_{cells,differences}.csv, held against exact calculation, and figures

from study_topics.packet_size import SHOWN as SIZE_FIGURES

# The same cells on the other platform, if that study was analysed.
OTHER_SIZES = [path] if OTHER_STUDY and Path(path := f"results/{OTHER_STUDY}/analysis/size_cells.csv").exists() else []


# Each cell against what headers alone make of it; IP versions, environments and platforms against each other.
rule measure_sizes:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        other=OTHER_SIZES,
        modules=modules_of("measure_sizes"),
    output:
        size_cells="results/{study}/analysis/size_cells.csv",
        size_differences="results/{study}/analysis/size_differences.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        printed=CLAIMS and CLAIMS["paper"].get("cells"),
    log:
        "results/{study}/logs/measure_sizes.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/measure_sizes.py"


# The paper's figures 2 to 5: throughput and round-trip time against the size.
for figure, (what, number) in SIZE_FIGURES.items():

    rule:
        name:
            f"plot_{figure.replace('-', '_')}"
        input:
            size_cells="results/{study}/analysis/size_cells.csv",
            other=OTHER_SIZES,
            modules=modules_of("plot_sizes"),
        output:
            figure=report(
                f"results/{{study}}/figures/{figure}.svg",
                caption="../../report/captions/size-values.rst",
                category="Packet size",
                labels={"figure": f"{what[0].upper()}{what[1:]} (figure {number})", "shows": "means, intervals, calculation"},
            ),
            data=f"results/{{study}}/figures/{figure}.csv",
        params:
            image=ANALYSIS_IMAGE,
            shown=figure,
            what=what,
            number=number,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            f"results/{{study}}/logs/plot_{figure}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_sizes.py"


if OUTLINE.design.ip_versions_compared:

    # IPv6 against IPv4 for each size, with the share that the longer header explains; the real clock against the virtual one.
    rule plot_size_differences:
        input:
            size_differences="results/{study}/analysis/size_differences.csv",
            modules=modules_of("plot_size_differences"),
        output:
            figure=report(
                "results/{study}/figures/size-differences.svg",
                caption="../../report/captions/size-differences.rst",
                category="Packet size",
                labels={"figure": "Differences by size", "shows": "IP versions, and platforms where both are there"},
            ),
            data="results/{study}/figures/size-differences.csv",
        params:
            image=ANALYSIS_IMAGE,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_size_differences.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_size_differences.py"
