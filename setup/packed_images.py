"""Images that travel: an archive of them in OCI's layout, written and taken, so that a machine without any mirror has them.

Each image is one manifest with one compressed layer, its files as a bundle has them; the manifest names the image, its content
digest and the key of its definition. Apptainer reads an archive with one image, too (`make images ARGS=testbed`, then
`apptainer build x.sif oci-archive:sawtooth.images.tar`; version 1.4 can't choose one of several).
What is taken is compared: blobs with their digests, and the unpacked image with its content digest.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import images
from bundle_contents import image_entries
from cache import cache_dir, made_once, require_space
from describe_image import content_digest
from progress import SetupError, say

SUFFIX = ".images.tar"
INDEX, LAYOUT = "index.json", "oci-layout"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
NAME = "org.opencontainers.image.ref.name"
CONTENT, KEY = "sawtooth.content-digest", "sawtooth.definition-key"
#: As root's shell has it; variables of the image's own stand in the image.
ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
COMPRESSION = 6
#: Index, manifests and configurations are small, whoever wrote them.
TEXT_LIMIT = 2**22
CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class Offer:
    """An image that somebody offers.

    Attributes
    ----------
    name : str
        ``testbed``, ``analysis``, ``ns3``.
    content_digest, definition_key : str
    place : pathlib.Path
        The archive, or the image's folder.
    layer : str
        SHA-256 of its layer in the archive, in hex digits; empty for a folder.
    """

    name: str
    content_digest: str
    definition_key: str
    place: Path
    layer: str = ""

    @property
    def folder(self) -> Path:
        """Where the image is, or will be: the cache's place for an image of that definition."""
        if not self.layer:
            return self.place
        return cache_dir() / "images" / f"{self.name}-{self.definition_key[:16]}"


def pack(archive, names) -> Path:
    """Write images of this checkout to an archive, whole or not at all.

    Raises
    ------
    SetupError
        There is no such image, or it isn't built.
    """
    known = {definition.stem: definition for definition in images.definitions()}
    for name in names:
        if name not in known:
            raise SetupError(f"there is no image {name!r}; there are {', '.join(known)}.")
        if not known[name].with_suffix(".sif").exists():
            raise SetupError(f"the image {name} is missing: run `make setup` first.")
    # Beside the archive: a cache may be another user's.
    with tempfile.TemporaryDirectory(dir=archive.absolute().parent, prefix=f".{archive.name}.") as place:
        blobs = Path(place)
        manifests = [pack_image(known[name], blobs) for name in names]
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}
        files = sorted(blobs.iterdir())
        with tarfile.open(blobs / "archive", "w", format=tarfile.GNU_FORMAT) as tar:
            add(tar, LAYOUT, b'{"imageLayoutVersion": "1.0.0"}')
            add(tar, INDEX, json.dumps(index, indent=1).encode())
            for folder in ("blobs", "blobs/sha256"):  # Apptainer makes none that isn't listed
                member = tarfile.TarInfo(folder)
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(member)
            for blob in files:
                add(tar, f"blobs/sha256/{blob.name}", blob)
        (blobs / "archive").rename(archive)
    say(f"{archive}: {', '.join(names)}, {archive.stat().st_size / 1e6:.0f} MB")
    return archive


def images_of(results) -> list[str]:
    """Return the images that results were made with, by their manifest.

    Raises
    ------
    SetupError
        There is no manifest, or this checkout has other images.
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
                    f"{results} was made with the image {name} of digest {entity['identifier']}, and the one here has {here}."
                )
            names.append(name)
    return names


def pack_image(definition, blobs) -> dict:
    """Put an image's blobs into a folder, each named by its SHA-256; return the descriptor of its manifest."""
    folder = definition.with_suffix(".sif").resolve().parent
    described = json.loads((folder / "image.json").read_text())
    if content_digest(folder / "root") != described["content_digest"]:
        raise SetupError(
            f"{folder} is not what its description says: delete it, and `make setup` builds the image anew."
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
    """Passes on what is written, and sums it up."""

    def __init__(self, target):
        self.target, self.sum = target, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.sum.update(data)
        return self.target.write(data)


def pack_layer(entries, blobs) -> tuple[Path, str]:
    """Write the layer of an image's entries; return the blob, and the SHA-256 of what it is before compression."""
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
    """Add a file, link or directory of an image to its layer."""
    _, _, path = entry.name.partition("/root/")
    if not path:  # the image's description, which the image has as well, and the root itself
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
    """Add a file, given by path or content, to an archive."""
    member = tarfile.TarInfo(name)
    member.mode = 0o644
    member.size = len(source) if isinstance(source, bytes) else source.stat().st_size
    with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as content:
        tar.addfile(member, content)


def write_blob(content, blobs) -> Path:
    """Write a blob named by its SHA-256."""
    blob = blobs / hashlib.sha256(content).hexdigest()
    blob.write_bytes(content)
    return blob


def descriptor(kind, blob) -> dict:
    """Return how OCI's layout refers to a blob."""
    return {"mediaType": kind, "digest": f"sha256:{blob.name}", "size": blob.stat().st_size}


def offered(place) -> list[Offer]:
    """List the images that an archive or folder has.

    Parameters
    ----------
    place : pathlib.Path
        An archive that `pack` wrote, an image's folder as the cache has it, or a folder with some of either.

    Raises
    ------
    SetupError
        There is no image.
    """
    place = place.absolute()
    if not place.exists():
        raise SetupError(f"SAWTOOTH_IMAGES is {place}, which doesn't exist.")
    if place.is_file():
        return offered_in_archive(place)
    folders = [place, *sorted(each for each in place.iterdir() if each.is_dir() and not each.name.startswith("."))]
    offers = [offered_folder(each) for each in folders if (each / "image.json").is_file() and (each / "root").is_dir()]
    offers += [offer for archive in sorted(place.glob(f"*{SUFFIX}")) for offer in offered_in_archive(archive)]
    if not offers:
        raise SetupError(
            f"SAWTOOTH_IMAGES is {place}, which has no image: neither an image's folder nor an archive *{SUFFIX}."
        )
    return offers


def offered_folder(folder) -> Offer:
    """Return the image that a folder is."""
    described = json.loads((folder / "image.json").read_text())
    return Offer(described["image"], described["content_digest"], described["definition_key"], folder)


def offered_in_archive(archive) -> list[Offer]:
    """List the images of an archive, without a look at their layers."""
    try:
        with tarfile.open(archive) as tar:
            offers = []
            for described in json.loads(read_text(tar, INDEX))["manifests"]:
                noted = described["annotations"]
                manifest = json.loads(read_blob(tar, described["digest"]))
                (layer,) = manifest["layers"]
                offers.append(Offer(noted[NAME], noted[CONTENT], noted[KEY], archive, hex_digits(layer["digest"])))
            for offer in offers:
                if not (offer.name.isalnum() and hex_digits("sha256:" + offer.definition_key)):
                    raise ValueError(offer.name)
            return offers
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        raise SetupError(
            f"{archive} is no archive of images that `make images` or `make publish IMAGES=1` wrote, or isn't whole."
        )


def read_text(tar, name) -> bytes:
    """Read a small file of an archive."""
    member = tar.getmember(name)
    if not member.isfile() or member.size > TEXT_LIMIT:
        raise ValueError(name)
    return tar.extractfile(member).read()


def read_blob(tar, named) -> bytes:
    """Read a small blob that is what its name says."""
    content = read_text(tar, f"blobs/sha256/{hex_digits(named)}")
    if hashlib.sha256(content).hexdigest() != hex_digits(named):
        raise ValueError(named)
    return content


def hex_digits(named) -> str:
    """Return the SHA-256 of a digest as OCI writes it, checked for its form."""
    kind, _, digits = named.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise ValueError(named)
    return digits


def provide(place) -> dict[str, Path]:
    """Take the images that an archive or folder has; of several of one name that of this checkout's definition.

    Returns
    -------
    dict
        Name -> folder with ``root`` and ``image.json``.
    """
    keys = {definition.stem: images.definition_key(definition) for definition in images.definitions()}
    chosen = {}
    for offer in offered(place):
        if offer.name in keys and (offer.name not in chosen or offer.definition_key == keys[offer.name]):
            chosen[offer.name] = offer
    if not chosen:
        raise SetupError(f"SAWTOOTH_IMAGES is {place}, which has none of the images {', '.join(keys)}.")
    for name, offer in chosen.items():
        if offer.definition_key != keys[name]:
            say(
                f"the image {name} of {offer.place} is of another definition than this checkout's, and is used all the same"
            )
        if offer.layer:
            take(offer)
    return {name: offer.folder for name, offer in chosen.items()}


def take(offer) -> None:
    """Unpack an image of an archive into the cache, unless it is there.

    Raises
    ------
    SetupError
        The layer or the image isn't what the archive says.
    """
    with made_once(offer.folder) as partial:
        if partial is None:
            there = json.loads((offer.folder / "image.json").read_text())["content_digest"]
            if there != offer.content_digest:
                raise SetupError(
                    f"{offer.place} has another image {offer.name} ({offer.content_digest}) than {offer.folder} ({there}), of the "
                    "same definition: name another cache in SAWTOOTH_CACHE."
                )
            return
        require_space(partial, 1, f"the image {offer.name}")
        say(f"taking the image {offer.name} from {offer.place}")
        wrong = SetupError(f"{offer.place}: the image {offer.name} is not what the archive says: copy it anew.")
        root = partial / "root"
        root.mkdir()
        with tarfile.open(offer.place) as archive:
            layer = archive.extractfile(f"blobs/sha256/{offer.layer}")
            if hashlib.file_digest(layer, "sha256").hexdigest() != offer.layer:
                raise wrong
            layer.seek(0)
            with tarfile.open(fileobj=layer, mode="r|gz") as tar:
                unpack_layer(tar, root)
        description = root / images.DESCRIPTION
        if (
            content_digest(root) != offer.content_digest
            or os.path.realpath(description) != f"{os.path.realpath(root)}/{images.DESCRIPTION}"
        ):
            raise wrong
        shutil.copyfile(description, partial / "image.json")
        said = offered_folder(partial)
        if (said.name, said.content_digest, said.definition_key) != (
            offer.name,
            offer.content_digest,
            offer.definition_key,
        ):
            raise wrong


def unpack_layer(tar, root) -> None:
    """Unpack a layer below a folder; nothing goes through a link, and nothing but files, links and folders is made."""
    modes = {}
    for member in tar:
        target = root / member.name
        inside = os.path.normpath(target) == str(target) and root in target.parents
        if not inside or os.path.realpath(target.parent) != os.path.realpath(root) + str(target.parent).removeprefix(
            str(root)
        ):
            raise SetupError(f"an image's layer has the path {member.name!r}, which leads out of it or through a link.")
        if member.isdir():
            target.mkdir()
            modes[target] = member.mode & 0o1777
        elif member.issym():
            target.symlink_to(member.linkname)
        elif member.isreg():
            with open(target, "xb") as file:
                content = tar.extractfile(member)
                while chunk := content.read(CHUNK_BYTES):
                    file.write(chunk)
            target.chmod(member.mode & 0o777)
            os.utime(target, (member.mtime, member.mtime))
        else:
            raise SetupError(f"an image's layer has {member.name!r}, which is neither file, folder nor link.")
    for folder, mode in modes.items():
        folder.chmod(mode)
