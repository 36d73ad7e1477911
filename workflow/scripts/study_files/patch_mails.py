"""Read patch series from mails, as written by `git format-patch` and `b4 am`.

Standard library only: set-up and the scripts in the analysis image need it too.
"""

import email
import re
from email.errors import HeaderParseError
from email.header import decode_header, make_header

#: Separator line between mails in an mbox, and the header of a mail.
BETWEEN = re.compile(rb"^From \S+ .*\d\d:\d\d.*\n", re.M)
HEAD = re.compile(rb"\A(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n")
#: First line of a mail in an mbox, for mails that were saved without this line.
BEGIN = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
#: Tags at the beginning of a subject, such as [PATCH v2 net-next 3/7], [RFC][PATCHv2 3/7] or [net-next,v2,3/7]; within the tags, the number
#: of the patch and of all patches; and the version of the series.
TAGS = re.compile(r"(?:\s*\[[^\]]*\])*")
NUMBERS = re.compile(r"(?<![\d/])(\d+)/(\d+)(?=[\s,\]])")
VERSION = re.compile(r"(?:\b|(?<=PATCH)|(?<=RFC))v(\d+)\b", re.I)
#: The beginning of a change to a file. A rename or a mode change has no +++ line.
CHANGE = re.compile(rb"^(?:\+\+\+ |diff --git )", re.M)
#: Files that a guest kernel doesn't use. Most of them are missing from the trees used for builds, but a patch may still change them.
NO_PART = re.compile(
    r"(Documentation|samples|sound|tools|MAINTAINERS|CREDITS|\.mailmap|arch/(?!um/|x86/|Kconfig)[^/]+)(/|$)"
)
#: Lines of a patch that name files.
NAMED = re.compile(rb"^--- (\S+).*\n\+\+\+ (\S+).*\n@@ |^diff --git (\S+) (\S+)", re.M)
#: Git's header of a change, without the prefixes a/ and b/. Quilt writes the prefix a/ twice.
NO_PREFIX = re.compile(rb"^diff --git (?!a/)(\S+) \1\r?$", re.M)
#: First bytes of compressed files.
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")


def patches_in(content: bytes, is_whole: bool = False) -> list[bytes]:
    """Return the decoded patches in a file, in the order of the series; a file without mails counts as a single patch.

    Cover letters (numbered 0) and replies are skipped.

    Parameters
    ----------
    content : bytes
        Content of an mbox, a mail or a patch.
    is_whole : bool, optional
        Whether a file that contains only one patch must contain the entire series. By default, the patch may belong to a longer series.

    Raises
    ------
    ValueError
        If the file is compressed, if a patch of the series is missing, if there are several series or versions, or if paths have no prefix
        (such as a/).
        The message doesn't name the file.
    """
    if content.startswith(COMPRESSED):
        raise ValueError("it is compressed; allowed: the unpacked text (gunzip, bunzip2, unxz or unzstd unpacks it)")
    mails = _mails(_with_plain_ends(content))
    if not mails:
        return [_with_prefixes(content)]
    patches = []
    for mail in mails:
        read = email.message_from_bytes(mail)
        text = _text_of(read)
        subject = _subject(read)
        number = _number(subject)
        if CHANGE.search(text) and number[1] > 0 and not re.match(r"(re|aw|fwd?):", subject, re.I):
            patches.append((number, text))
    if _is_series(patches, is_whole):
        patches.sort(key=lambda one: one[0][1])
    return [_with_prefixes(text) for _, text in patches]


def _with_prefixes(patch):
    """Return a patch; raise ValueError if its paths have no prefix, because `patch -p1` would take their first folder for the prefix."""
    if match := NO_PREFIX.search(patch):
        path = match[1].decode(errors="replace")
        raise ValueError(
            f"it names {path} without a prefix; allowed: paths with a prefix, such as a/{path}, which git writes unless --no-prefix or diff.noprefix is set"
        )
    return patch


def mbox_of(content: bytes) -> bytes | None:
    """Return the mails in a file as an mbox with Unix line endings, or None if the file contains no mails."""
    content = _with_plain_ends(content)
    if not _mails(content):
        return None
    if not content.startswith(b"From "):
        content = BEGIN + re.sub(rb"^(>*From )", rb">\1", content, flags=re.M)
    return content if content.endswith(b"\n") else content + b"\n"


def named_paths(patches) -> list[str]:
    """Return the sorted paths of the source files that the given patches (bytes) change, without their prefix (as `patch -p1` reads them)."""
    names = {name for patch in patches for match in NAMED.finditer(patch) for name in match.groups() if name}
    paths = {name.decode(errors="replace") for name in names - {b"/dev/null"}}
    return sorted({path.partition("/")[2] or path for path in paths})


def _with_plain_ends(text):
    """Return a text with Unix line endings instead of Windows line endings; a text with mixed line endings is returned unchanged."""
    return text.replace(b"\r\n", b"\n") if text.count(b"\r\n") == text.count(b"\n") else text


def _mails(content):
    """Return the mails in a file, which is an mbox or a single mail; return an empty list for any other file."""
    begins = [match for match in BETWEEN.finditer(content) if HEAD.match(content[match.end() :])]
    if begins and begins[0].start() == 0:
        ends = [*(match.start() for match in begins[1:]), len(content)]
        return [content[begin.end() : end] for begin, end in zip(begins, ends, strict=True)]
    head = HEAD.match(content)
    return [content] if head and re.search(rb"^(Subject|From):", head[0], re.M | re.I) else []


def _text_of(read):
    """Return the decoded text parts of a mail, joined in order."""
    parts = [part for part in read.walk() if part.get_content_maintype() == "text"]
    text = b"\n".join(part.get_payload(decode=True) or b"" for part in parts)
    # In the mboxrd format, an additional > precedes each line of text that begins with From.
    return re.sub(rb"^>(>*From )", rb"\1", _with_plain_ends(text), flags=re.M)


def _subject(read):
    """Return the decoded subject of a mail on one line; a subject that can't be decoded is returned as it is."""
    given = read.get("Subject", "")
    try:
        text = str(make_header(decode_header(given)))
    except (LookupError, ValueError, HeaderParseError):
        text = str(given)
    return " ".join(text.split())


def _number(subject):
    """Return the name of the series, the number of the patch, and the length of the series, as stated in the subject of a mail.

    If the patch is not part of a series, its subject without tags, 1 and 1 are returned.
    """
    tags = TAGS.match(subject)[0]
    numbers, version = NUMBERS.search(tags), VERSION.search(tags)
    if not numbers or int(numbers[2]) == 1 == int(numbers[1]):
        return subject[len(tags) :].strip(), 1, 1
    return f"v{version[1] if version else 1} of {int(numbers[2])}", int(numbers[1]), int(numbers[2])


def _is_series(patches, is_whole):
    """Return whether patches are a numbered series; raise ValueError if a patch is missing or if there are several series."""
    numbered = [number for number, _ in patches if number[2] > 1]
    titles = [number[0] for number, _ in patches if number[2] == 1 and number[0]]
    if twice := next((title for title in titles if titles.count(title) > 1), None):
        raise ValueError(f'it has several versions of "{twice[:200]}"; allowed: one')
    if not numbered or (len(patches) == 1 and not is_whole):
        return False
    if len({number[0] for number, _ in patches}) > 1:
        series = sorted({number[0] for number, _ in patches})
        raise ValueError(f"it has mails of several series ({'; '.join(series)[:200]}); allowed: one")
    places, total = sorted(number[1] for number in numbered), numbered[0][2]
    if places != list(range(1, total + 1)):
        missing = sorted({*range(1, total + 1)} - {*places})
        twice = len(places) > len({*places})
        which = "with a duplicate number" if twice else f"without {', '.join(map(str, missing))}"
        raise ValueError(f"it is a series {which}; allowed: a series without gaps, as written by b4 am")
    return True
