"""Import images into the cache from an archive (`packed_images`) or a folder.

Archives are verified: each blob that is read must match its digest, and each unpacked image its content digest.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import images
from cache import cache_entry, made_once, require_space
from describe_image import content_digest
from packed_images import CHUNK_BYTES, CONTENT, INDEX, KEY, NAME, SUFFIX
from progress import SetupError, say
from read_layers import BoundedFile, layer_files
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence
from wording.terminal_text import shown

#: Maximum size in bytes of an index, a manifest or a description.
TEXT_LIMIT = 2**22
#: Maximum number of images that are read from an archive. Sawtooth has three images.
MOST_IMAGES = 16
#: Maximum number of files in an archive. Each image consists of a few files.
MOST_MEMBERS = 1000
#: Exceptions that show that a file isn't an archive of images.
WRONG = (tarfile.TarError, zlib.error, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Offer:
    """An image that an archive or a folder contains.

    Attributes
    ----------
    name : str
        Name of the image: ``testbed``, ``analysis`` or ``ns3``.
    content_digest, definition_key : str
        Digest of the image's content, and key of the image's definition.
    place : pathlib.Path
        Path to the archive or to the image's folder.
    layer : str
        SHA-256 of the image's layer in the archive, in hexadecimal digits; empty for an image in a folder.
    """

    name: str
    content_digest: str
    definition_key: str
    place: Path
    layer: str = ""

    @property
    def folder(self) -> Path:
        """Folder of the image; for an image from an archive, this is its folder in the cache."""
        if not self.layer:
            return self.place
        return cache_entry("images", f"{self.name}-{self.definition_key[:16]}")


def offered(place) -> list[Offer]:
    """Return the images that an archive or a folder contains.

    Parameters
    ----------
    place : pathlib.Path
        Path to an archive from `packed_images.pack`, to an image's folder as in the cache, or to a folder with such archives or folders.

    Raises
    ------
    SetupError
        If the archive or folder doesn't exist or contains no image.
    """
    place = place.absolute()
    if not os.path.exists(place):
        raise SetupError(f"SAWTOOTH_IMAGES is {shown(place)}: {absence(place)}.")
    if not os.path.isdir(place):
        return offered_in_archive(place)
    folders = [place, *sorted(each for each in place.iterdir() if each.is_dir() and not each.name.startswith("."))]
    offers = [offered_folder(each) for each in folders if (each / "image.json").is_file() and (each / "root").is_dir()]
    offers += [offer for archive in sorted(place.glob(f"*{SUFFIX}")) for offer in offered_in_archive(archive)]
    if not offers:
        raise SetupError(
            f"SAWTOOTH_IMAGES is {shown(place)}, which has no image: neither an image's folder nor an archive *{SUFFIX}."
        )
    return offers


def offered_folder(folder) -> Offer:
    """Return the offer for the image in a folder, with the values that its description (``image.json``) states."""
    try:
        described = json.loads(given_bytes(folder / "image.json", TEXT_LIMIT))
        return Offer(described["image"], described["content_digest"], described["definition_key"], folder)
    except (OSError, *WRONG):
        raise SetupError(f"{folder / 'image.json'} does not describe an image.") from None


def offered_in_archive(archive) -> list[Offer]:
    """Return the images in an archive without reading their layers."""
    try:
        with opened(archive) as tar:
            files, offers = named_files(tar), []
            for described in json.loads(read_text(tar, files, INDEX))["manifests"][:MOST_IMAGES]:
                noted = described["annotations"]
                manifest = json.loads(read_blob(tar, files, described["digest"]))
                (layer,) = manifest["layers"]
                offers.append(Offer(noted[NAME], noted[CONTENT], noted[KEY], archive, hex_digits(layer["digest"])))
            for offer in offers:
                if not (offer.name.isalnum() and hex_digits("sha256:" + offer.definition_key)):
                    raise ValueError(offer.name)
            return offers
    except OSError as error:
        raise SetupError(f"{shown(archive)} can't be read ({error.strerror}).") from None
    except WRONG:
        raise SetupError(
            f"{shown(archive)} is not an archive of images written by `make images` or `make publish IMAGES=1`, or is incomplete."
        ) from None


@contextlib.contextmanager
def opened(archive) -> Iterator[tarfile.TarFile]:
    """Open an archive of images, in which only the layers are compressed."""
    # The file is opened in non-blocking mode, because opening a pipe would block.
    with open(os.open(archive, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SetupError(f"{shown(archive)} is neither a file nor a folder.")
        with tarfile.open(fileobj=BoundedFile(file, status.st_size), mode="r:") as tar:
            yield tar


def named_files(tar) -> dict[str, tarfile.TarInfo]:
    """Return the regular files in an archive, by name; raise ValueError if the archive has more than `MOST_MEMBERS` members."""
    files = {}
    for number, member in enumerate(tar):
        if number == MOST_MEMBERS:
            raise ValueError(f"more than {MOST_MEMBERS:,} files")
        if member.isreg() and not member.issparse():
            files[member.name] = member
    return files


def read_text(tar, files, name) -> bytes:
    """Return the content of a small file in an archive; raise ValueError if the file is too large."""
    if files[name].size > TEXT_LIMIT:
        raise ValueError(name)
    return tar.extractfile(files[name]).read()


def read_blob(tar, files, named) -> bytes:
    """Return the content of a small blob; raise ValueError if the content doesn't match the given digest."""
    content = read_text(tar, files, f"blobs/sha256/{hex_digits(named)}")
    if hashlib.sha256(content).hexdigest() != hex_digits(named):
        raise ValueError(named)
    return content


def hex_digits(named) -> str:
    """Return the hexadecimal digits of a SHA-256 digest in OCI notation; raise ValueError if the digest is malformed."""
    kind, _, digits = named.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise ValueError(named)
    return digits


def provide(place) -> dict[str, Path]:
    """Import the images that an archive or a folder contains.

    If several images have the same name, an image built from this checkout's definition is preferred.

    Returns
    -------
    dict
        Name of an image -> folder with ``root`` and ``image.json``.
    """
    keys = {definition.stem: images.definition_key(definition) for definition in images.definitions()}
    chosen = {}
    for offer in offered(place):
        if offer.name in keys and (offer.name not in chosen or offer.definition_key == keys[offer.name]):
            chosen[offer.name] = offer
    if not chosen:
        raise SetupError(f"SAWTOOTH_IMAGES is {shown(place)}, which has none of the images {', '.join(keys)}.")
    for name, offer in chosen.items():
        if offer.definition_key != keys[name]:
            say(f"the image {name} of {offer.place} is used, although its definition differs from this checkout's")
        if offer.layer:
            take(offer)
    return {name: offer.folder for name, offer in chosen.items()}


def take(offer) -> None:
    """Unpack an image from an archive into the cache unless it is already there.

    Raises
    ------
    SetupError
        If the layer or the unpacked image doesn't match the archive's description, or if the cache contains a different image built from
        the same definition.
    """
    with made_once(offer.folder) as partial:
        if partial is None:
            there = json.loads((offer.folder / "image.json").read_text())["content_digest"]
            if there != offer.content_digest:
                raise SetupError(
                    f"the images {offer.name} of {offer.place} ({offer.content_digest}) and {offer.folder} ({there}) differ, although they "
                    "have the same definition: name another cache in SAWTOOTH_CACHE."
                )
            return
        require_space(partial, 1, f"the image {offer.name}")
        say(f"taking the image {offer.name} from {offer.place}")
        wrong = SetupError(
            f"{offer.place}: the image {offer.name} doesn't match the archive's description: copy the archive again."
        )
        root = partial / "root"
        root.mkdir()
        try:
            unpack(offer, root)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO):
                raise  # the machine's failure, not the archive's
            raise wrong from None
        except WRONG:
            raise wrong from None
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


def unpack(offer, root) -> None:
    """Verify the digest of an image's layer, and unpack the layer to the folder ``root``."""
    with opened(offer.place) as archive:
        blob = named_files(archive)[f"blobs/sha256/{offer.layer}"]
        if hashlib.file_digest(archive.extractfile(blob), "sha256").hexdigest() != offer.layer:
            raise ValueError(offer.layer)
        unpack_files(layer_files(archive.extractfile(blob), blob.size), root)


def unpack_files(files, root) -> None:
    """Write the files, links and folders in a layer to a folder.

    Parameters
    ----------
    files : iterable
        Members and their contents, as `layer_files` yields them.
    root : pathlib.Path
        Target folder.

    Raises
    ------
    SetupError
        If a member is of another type, or if its path leads out of the folder or through a link.
    """
    modes = {}
    for member, content in files:
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
        elif content:
            with open(target, "xb") as file:
                while chunk := content.read(CHUNK_BYTES):
                    file.write(chunk)
            target.chmod(member.mode & 0o777)
            os.utime(target, (member.mtime, member.mtime))
        else:
            raise SetupError(f"an image's layer has {member.name!r}, which is neither file, folder nor link.")
    for folder, mode in modes.items():
        folder.chmod(mode)
