"""Read untrusted image archives, with limits on time and memory that depend on the archive's size."""

import gzip
import io
import tarfile
from collections.abc import Iterator

from packed_images import CHUNK_BYTES

#: Maximum size of an unpacked layer, as a multiple of its packed size. For Sawtooth's images the factor is about three.
GROWTH = 20
#: Size in bytes that is allowed for every unpacked layer in addition to this multiple.
ALWAYS = 2**22
#: Maximum number of files in an image; the analysis image contains 22,000.
MOST_FILES = 200_000


class BoundedFile(io.RawIOBase):
    """A file that raises `tarfile.ReadError` on an attempt to read beyond ``most`` bytes, or more than `CHUNK_BYTES` at once.

    The headers of an archive may announce terabytes, and compressed content may decompress to terabytes.
    """

    def __init__(self, file, most):
        self.file, self.most = file, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size=-1) -> bytes:
        if not 0 <= size <= CHUNK_BYTES:
            raise tarfile.ReadError(f"a piece of {size} bytes")
        content = self.file.read(size)
        self._check(self.file.tell())
        return content

    def tell(self) -> int:
        return self.file.tell()

    def seek(self, offset, whence=io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise tarfile.ReadError("a place behind the end")
        self._check(offset)
        return self.file.seek(offset)

    def _check(self, offset):
        if offset > self.most:
            raise tarfile.ReadError(f"more than {self.most:,} bytes")


def layer_files(layer, size) -> Iterator[tuple[tarfile.TarInfo, io.BufferedIOBase | None]]:
    """Yield the members of an image's layer in order, each with a file object, or with None if the member isn't a regular file.

    Parameters
    ----------
    layer : file object
        Tar archive, compressed with gzip.
    size : int
        Size of the compressed layer in bytes.

    Raises
    ------
    tarfile.ReadError
        If the unpacked layer is too large or contains too many files.
    """
    with (
        gzip.GzipFile(fileobj=layer) as plain,
        tarfile.open(fileobj=BoundedFile(plain, GROWTH * size + ALWAYS), mode="r:") as tar,
    ):
        while member := tar.next():
            if len(tar.members) > MOST_FILES:
                raise tarfile.ReadError(f"more than {MOST_FILES:,} files")
            is_file = member.isreg() and not member.issparse()
            yield member, tar.extractfile(member) if is_file else None
