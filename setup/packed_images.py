"""Pack images into an archive in the OCI layout, for machines that can't reach any mirror (`taken_images` imports the images).

Each image consists of one manifest and one compressed layer with the same files as in a bundle. Annotations state the image's name, its
content digest and the key of its definition. Apptainer can read an archive with a single image: `make images ARGS=testbed`, then
`apptainer build x.sif oci-archive:sawtooth.images.tar`. Apptainer 1.4 can't choose one of several images.
"""

import gzip
import hashlib
import io
import json
import stat
import tarfile
import tempfile
from pathlib import Path

import images
from bundle_contents import image_entries
from describe_image import content_digest
from progress import SetupError, say

SUFFIX = ".images.tar"
INDEX, LAYOUT = "index.json", "oci-layout"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
NAME = "org.opencontainers.image.ref.name"
CONTENT, KEY = "sawtooth.content-digest", "sawtooth.definition-key"
#: Environment variables as in root's shell. Variables that an image needs are set inside the image.
ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
COMPRESSION = 6
CHUNK_BYTES = 2**20


def pack(archive, names) -> Path:
    """Write images of this checkout to an archive, atomically.

    Raises
    ------
    SetupError
        If there is no image of a given name, or if the image hasn't been built.
    """
    known = {definition.stem: definition for definition in images.definitions()}
    for name in names:
        if name not in known:
            raise SetupError(f"there is no image {name!r}; there are {', '.join(known)}.")
        if not known[name].with_suffix(".sif").exists():
            raise SetupError(f"the image {name} is missing: run `make setup{' NS3=1' if name == 'ns3' else ''}` first.")
    # The temporary folder is next to the archive, because the cache may belong to another user.
    with tempfile.TemporaryDirectory(dir=archive.absolute().parent, prefix=f".{archive.name}.") as place:
        blobs = Path(place)
        manifests = [pack_image(known[name], blobs) for name in names]
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}
        files = sorted(blobs.iterdir())
        with tarfile.open(blobs / "archive", "w", format=tarfile.GNU_FORMAT) as tar:
            add(tar, LAYOUT, b'{"imageLayoutVersion": "1.0.0"}')
            add(tar, INDEX, json.dumps(index, indent=1).encode())
            for folder in ("blobs", "blobs/sha256"):  # Apptainer creates only folders that the archive lists
                member = tarfile.TarInfo(folder)
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(member)
            for blob in files:
                add(tar, f"blobs/sha256/{blob.name}", blob)
        (blobs / "archive").rename(archive)
    say(f"{archive}: {', '.join(names)}, {archive.stat().st_size / 1e6:.0f} MB")
    return archive


def images_of(results) -> list[str]:
    """Return the names of the images listed in the manifest of a results folder.

    Raises
    ------
    SetupError
        If the manifest can't be read, or if this checkout's images differ from the listed ones.
    """
    manifest = results / "ro-crate-metadata.json"
    try:
        entities = json.loads(manifest.read_text())["@graph"]
    except (OSError, ValueError, KeyError):
        raise SetupError(f"{manifest} can't be read: run the study first.")
    names = []
    for entity in entities:
        if entity["@type"] == "ContainerImage":
            name = entity["name"].removeprefix("envs/").removesuffix(".sif")
            here = json.loads(Path(f"envs/{name}.json").read_text())["content_digest"]
            if here != entity["identifier"]:
                raise SetupError(
                    f"{results} was made with the image {name} of digest {entity['identifier']}, and this checkout's has {here}."
                )
            names.append(name)
    return names


def pack_image(definition, blobs) -> dict:
    """Write an image's blobs to a folder, and return the descriptor of the image's manifest."""
    folder = definition.with_suffix(".sif").resolve().parent
    described = json.loads((folder / "image.json").read_text())
    if content_digest(folder / "root") != described["content_digest"]:
        raise SetupError(
            f"{folder} doesn't match its description: delete it, and run `make setup` to build the image again."
        )
    say(f"packing the image {definition.stem}")
    layer, content = pack_layer(image_entries(folder), blobs)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": ENVIRONMENT},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{content}"]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": descriptor(CONFIG_TYPE, write_blob(json.dumps(config).encode(), blobs)),
        "layers": [descriptor(LAYER_TYPE, layer)],
    }
    noted = {NAME: definition.stem, CONTENT: described["content_digest"], KEY: described["definition_key"]}
    return {
        **descriptor(MANIFEST_TYPE, write_blob(json.dumps(manifest).encode(), blobs)),
        "platform": {"architecture": "amd64", "os": "linux"},
        "annotations": noted,
    }


class Hashing(io.RawIOBase):
    """A writer that passes all data on to another writer, and computes their SHA-256."""

    def __init__(self, target):
        self.target, self.sum = target, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.sum.update(data)
        return self.target.write(data)


def pack_layer(entries, blobs) -> tuple[Path, str]:
    """Write an image's entries as a compressed layer.

    Return the path to the layer's blob, and the SHA-256 of the uncompressed layer.
    """
    partial = blobs / "layer"
    with open(partial, "wb") as file:
        packed = Hashing(file)
        with gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=packed, mtime=0) as zipped:
            plain = Hashing(zipped)
            with tarfile.open(fileobj=plain, mode="w|", format=tarfile.GNU_FORMAT, bufsize=CHUNK_BYTES) as tar:
                for entry in entries:
                    add_entry(tar, entry)
    return partial.rename(blobs / packed.sum.hexdigest()), plain.sum.hexdigest()


def add_entry(tar, entry) -> None:
    """Add an image's entry (a file, link or folder) to the image's layer."""
    _, _, path = entry.name.partition("/root/")
    if not path:  # the root itself, or the image's description, which the image contains anyway
        return
    member = tarfile.TarInfo(path)
    member.mode = stat.S_IMODE(entry.mode) & 0o1777
    member.mtime = entry.date or 0
    if stat.S_ISDIR(entry.mode):
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    elif stat.S_ISLNK(entry.mode):
        member.type, member.linkname = tarfile.SYMTYPE, entry.source
        tar.addfile(member)
    else:
        member.size = entry.size
        with io.BytesIO(entry.source) if isinstance(entry.source, bytes) else open(entry.source, "rb") as content:
            tar.addfile(member, content)


def add(tar, name, source) -> None:
    """Add a file to an archive; ``source`` is the file's path or content."""
    member = tarfile.TarInfo(name)
    member.mode = 0o644
    member.size = len(source) if isinstance(source, bytes) else source.stat().st_size
    with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as content:
        tar.addfile(member, content)


def write_blob(content, blobs) -> Path:
    """Write content to a file whose name is the content's SHA-256, and return the file's path."""
    blob = blobs / hashlib.sha256(content).hexdigest()
    blob.write_bytes(content)
    return blob


def descriptor(kind, blob) -> dict:
    """Return the OCI descriptor of a blob: media type (``kind``), digest and size in bytes."""
    return {"mediaType": kind, "digest": f"sha256:{blob.name}", "size": blob.stat().st_size}
