"""Images that travelled: those that an archive (`packed_images`) or a folder has, taken into the cache.

What is taken is compared: blobs with their digests, and the unpacked image with its content digest.
"""

import hashlib
import json
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

import images
from cache import cache_dir, made_once, require_space
from describe_image import content_digest
from packed_images import CHUNK_BYTES, CONTENT, INDEX, KEY, NAME, SUFFIX
from progress import SetupError, say

#: Index, manifests and configurations are small, whoever wrote them.
TEXT_LIMIT = 2**22


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
        offered = offered_folder(partial)
        if (offered.name, offered.content_digest, offered.definition_key) != (
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
