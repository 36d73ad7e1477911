"""Import images into the cache from an archive (`packed_images`) or a folder.

Everything imported is verified: blobs against their digests, and the unpacked image against its content digest.
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

#: Largest size in bytes of an index, a manifest or a description.
TEXT_LIMIT = 2**22
#: Largest number of images in an archive; Sawtooth has three.
MOST_IMAGES = 16
#: Largest number of files in an archive of images, which has a few for each image.
MOST_MEMBERS = 1000
#: Exceptions raised by reading a file that is not an archive of images.
WRONG = (tarfile.TarError, zlib.error, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Offer:
    """An image offered by an archive or folder.

    Attributes
    ----------
    name : str
        ``testbed``, ``analysis`` or ``ns3``.
    content_digest, definition_key : str
    place : pathlib.Path
        The archive, or the image's folder.
    layer : str
        SHA-256 of the image's layer in the archive, in hex digits; empty for a folder.
    """

    name: str
    content_digest: str
    definition_key: str
    place: Path
    layer: str = ""

    @property
    def folder(self) -> Path:
        """Folder of the image: the offered folder, or the cache's folder for an image of that definition."""
        if not self.layer:
            return self.place
        return cache_entry("images", f"{self.name}-{self.definition_key[:16]}")


def offered(place) -> list[Offer]:
    """List the images that an archive or folder has.

    Parameters
    ----------
    place : pathlib.Path
        An archive that `packed_images.pack` wrote, an image's folder as in the cache, or a folder that contains such archives or folders.

    Raises
    ------
    SetupError
        There is no such file or folder, or it has no image.
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
    """Return the offer of an image's folder, read from the image's description."""
    try:
        described = json.loads(given_bytes(folder / "image.json", TEXT_LIMIT))
        return Offer(described["image"], described["content_digest"], described["definition_key"], folder)
    except (OSError, *WRONG):
        raise SetupError(f"{folder / 'image.json'} does not describe an image.") from None


def offered_in_archive(archive) -> list[Offer]:
    """List the images in an archive without reading their layers."""
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
    """Open an archive of images, which is not compressed as a whole."""
    # Non-blocking, because opening a pipe would wait.
    with open(os.open(archive, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SetupError(f"{shown(archive)} is neither a file nor a folder.")
        with tarfile.open(fileobj=BoundedFile(file, status.st_size), mode="r:") as tar:
            yield tar


def named_files(tar) -> dict[str, tarfile.TarInfo]:
    """Return the files of an archive by name."""
    files = {}
    for number, member in enumerate(tar):
        if number == MOST_MEMBERS:
            raise ValueError(f"more than {MOST_MEMBERS:,} files")
        if member.isreg() and not member.issparse():
            files[member.name] = member
    return files


def read_text(tar, files, name) -> bytes:
    """Read a small file of an archive."""
    if files[name].size > TEXT_LIMIT:
        raise ValueError(name)
    return tar.extractfile(files[name]).read()


def read_blob(tar, files, named) -> bytes:
    """Read a small blob and check it against the digest in its name."""
    content = read_text(tar, files, f"blobs/sha256/{hex_digits(named)}")
    if hashlib.sha256(content).hexdigest() != hex_digits(named):
        raise ValueError(named)
    return content


def hex_digits(named) -> str:
    """Return the hex digits of a SHA-256 digest in OCI's notation; raise ValueError if it is malformed."""
    kind, _, digits = named.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise ValueError(named)
    return digits


def provide(place) -> dict[str, Path]:
    """Import the images of an archive or folder; if several have the same name, only the one with this checkout's definition.

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
        raise SetupError(f"SAWTOOTH_IMAGES is {shown(place)}, which has none of the images {', '.join(keys)}.")
    for name, offer in chosen.items():
        if offer.definition_key != keys[name]:
            say(
                f"the image {name} of {offer.place} was built from another definition than this checkout's, and is used all the same"
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
                    f"the images {offer.name} of {offer.place} ({offer.content_digest}) and {offer.folder} ({there}) differ, although they "
                    "have the same definition: name another cache in SAWTOOTH_CACHE."
                )
            return
        require_space(partial, 1, f"the image {offer.name}")
        say(f"taking the image {offer.name} from {offer.place}")
        wrong = SetupError(
            f"{offer.place}: the image {offer.name} is not what the archive says: copy the archive again."
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
    """Unpack an image's layer below a folder, after verifying the layer's digest."""
    with opened(offer.place) as archive:
        blob = named_files(archive)[f"blobs/sha256/{offer.layer}"]
        if hashlib.file_digest(archive.extractfile(blob), "sha256").hexdigest() != offer.layer:
            raise ValueError(offer.layer)
        unpack_files(layer_files(archive.extractfile(blob), blob.size), root)


def unpack_files(files, root) -> None:
    """Write a layer's files, links and folders below a folder; refuse other members, and paths that leave the folder or pass a link.

    Parameters
    ----------
    files : iterable
        (member, its content as a file, or None), as `layer_files` yields them.
    root : pathlib.Path
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
