"""Describe the software with which a study was made as entities of its RO-Crate: workflow, images, kernel, tools and libraries."""

from urllib.parse import quote

from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

#: Namespace of terms that the Workflow Run RO-Crate profiles define but RO-Crate's own context doesn't contain.
RUN_TERMS = "https://w3id.org/ro/terms/workflow-run"
WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
HOMEPAGES = {
    "iperf3": "https://software.es.net/iperf/",
    "iproute2": "https://wiki.linuxfoundation.org/networking/iproute2",
    "iputils-ping": "https://github.com/iputils/iputils",
    "libc6": "https://www.gnu.org/software/libc/",
    "linux": "https://www.kernel.org/",
    "matplotlib": "https://matplotlib.org/",
    "mininet": "https://mininet.org/",
    "mptcpize": "https://github.com/multipath-tcp/mptcpd",
    "nginx": "https://nginx.org/",
    "ns-3": "https://www.nsnam.org/",
    "numpy": "https://numpy.org/",
    "pandas": "https://pandas.pydata.org/",
    "pingouin": "https://pingouin-stats.org/",
    "pyarrow": "https://arrow.apache.org/",
    "python3": "https://www.python.org/",
    "qperf": "https://github.com/linux-rdma/qperf",
    "rocrate": "https://www.researchobject.org/ro-crate-py/",
    "scipy": "https://scipy.org/",
    "vsftpd": "http://vsftpd.beasts.org/",
    "wget": "https://www.gnu.org/software/wget/",
}
#: Platform -> description of its kernel.
KERNELS = {"uml": "The runs' guest kernel", "host": "The kernel of the machine on which the runs were measured"}


def describe_workflow(workflow: ComputationalWorkflow, made_by: dict) -> None:
    """Set all properties of the crate's main entity except its files; ``made_by`` is the key ``workflow`` of tidy/provenance.json."""
    commit, changes = made_by["commit"], " with changes that were not committed" if made_by["dirty"] else ""
    workflow["name"] = "Sawtooth"
    description = "TCP congestion control experiments that anyone can reproduce to the byte: a Snakemake workflow."
    workflow["description"] = description
    workflow["version"] = f"{commit}{changes}" if commit else "not recorded"
    workflow["conformsTo"] = {"@id": WORKFLOW_PROFILE}
    workflow["license"] = workflow.crate.root_dataset["license"]
    workflow["keywords"] = "congestion control, TCP, network emulation, reproducibility"
    developers = {"@type": "Organization", "name": "The Sawtooth developers"}
    workflow["creator"] = workflow.crate.add(ContextEntity(workflow.crate, "#developers", developers))


def add_images(crate: ROCrate, images: list[tuple[str, str]]) -> list[ContextEntity]:
    """Add container images, given as pairs (name, content digest), to the crate; return their entities."""
    entities = []
    for name, digest in images:
        properties = {
            "@type": "ContainerImage",
            "name": f"envs/{name}.sif",
            "additionalType": {"@id": f"{RUN_TERMS}#SIFImage"},
            "identifier": digest,
            "description": f"Made by envs/{name}.def. The identifier is the digest of the image's content, "
            f"content_digest in envs/{name}.json, not of the image file.",
        }
        address = f"#{name}-image-{digest.removeprefix('sha256:')[:12]}"
        entities.append(crate.add(ContextEntity(crate, address, properties)))
    return entities


def add_software(crate: ROCrate, environments: list[dict], libraries: dict[str, str]) -> list[ContextEntity]:
    """Add the kernel, the tools and the libraries of the analysis image to the crate; return their entities.

    ``environments`` is from tidy/provenance.json; ``libraries`` maps names to versions. Each version is one entity, identified by its
    package URL; the entities are sorted by package URL.
    """
    software = {}
    for environment in environments:
        if "kernel" in environment:
            kernel, config = environment["kernel"], environment["kernel_config_sha256"]
            address = f"pkg:generic/linux@{quote(kernel)}{f'?config_sha256={config}' if config else ''}"
            software[address] = ("linux", kernel, f"{KERNELS[environment['platform']]}, {environment['clock']}.")
        else:
            address = f"pkg:pypi/ns3@{quote(environment['simulator_wheel'])}"
            software[address] = ("ns-3", environment["simulator_version"], "The runs' simulator.")
        for key, version in environment.items():
            if key.endswith("_version") and key != "simulator_version":
                name = key.removesuffix("_version")
                address = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}"
                software[address] = (name, version, "In the runs' image.")
    for name, version in libraries.items():
        software[f"pkg:pypi/{name}@{quote(version, safe='')}"] = (name, version, "In the analysis image.")
    entities = []
    for address, (name, version, description) in sorted(software.items()):
        properties = {"name": name, "softwareVersion": version, "description": description}
        if name in HOMEPAGES:
            properties["url"] = HOMEPAGES[name]
        properties["@type"] = "SoftwareApplication"
        entities.append(crate.add(ContextEntity(crate, address, properties)))
    return entities
