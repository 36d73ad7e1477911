"""Read patch series from mails, as written by `git format-patch` and `b4 am`.

Standard library only: set-up and the scripts in the analysis image need it too.
"""

import email
import re

#: Separator line between mails in an mbox, and the header of a mail.
BETWEEN = re.compile(rb"^From \S+ .*\d\d:\d\d.*\n", re.M)
HEAD = re.compile(rb"\A(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n")
#: Tag of a subject: [PATCH v2 net-next 3/7].
TAG = re.compile(r"\[(?=[^\]]*\b(?:PATCH|RFC)\b)([^\]]*)\]", re.I)
#: The beginning of a change to a file.
CHANGE = re.compile(rb"^\+\+\+ ", re.M)
#: Files that a guest kernel doesn't use. Most of them are missing from the trees used for builds, but a patch may still change them.
NO_PART = re.compile(
    r"(Documentation|samples|sound|tools|MAINTAINERS|CREDITS|\.mailmap|arch/(?!um/|x86/|Kconfig)[^/]+)(/|$)"
)
#: Lines of a patch that name files.
NAMED = re.compile(rb"^--- (?:a/)?(\S+).*\n\+\+\+ (?:b/)?(\S+)|^diff --git a/(\S+) b/(\S+)", re.M)


def patches_in(content: bytes) -> list[bytes]:
    """Return the decoded patches in a file, in the order of the series; a file without mails counts as a single patch.

    Cover letters and replies are skipped.

    Raises
    ------
    ValueError
        If a patch of the series is missing, or if there are several series; the message doesn't name the file.
    """
    mails = _mails(_with_plain_ends(content))
    if not mails:
        return [content]
    patches = []
    for mail in mails:
        read = email.message_from_bytes(mail)
        text = _text_of(read)
        subject = " ".join(str(read.get("Subject", "")).split())
        if CHANGE.search(text) and not re.match(r"(re|aw|fwd?):", subject, re.I):
            patches.append((_number(subject), text))
    return [text for _, text in sorted(patches, key=lambda one: one[0][1])] if _is_series(patches) else [
        text for _, text in patches
    ]  # fmt: skip


def named_paths(patches) -> list[str]:
    """Return the sorted paths of the source files that the given patches (bytes) change."""
    found = {name for patch in patches for match in NAMED.finditer(patch) for name in match.groups() if name}
    return sorted({path.decode(errors="replace") for path in found} - {"/dev/null"})


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


def _number(subject):
    """Return the name of the series, the number of the patch, and the length of the series, as stated in the subject of a mail.

    If the subject contains no numbers, the subject, 1 and 1 are returned.
    """
    tag = TAG.search(subject)
    numbers = tag and re.search(r"\b(\d+)/(\d+)\b", tag[1])
    if not numbers:
        return subject, 1, 1
    version = re.search(r"\bv(\d+)\b", tag[1], re.I)
    return f"v{version[1] if version else 1} of {int(numbers[2])}", int(numbers[1]), int(numbers[2])


def _is_series(patches):
    """Return whether patches are a numbered series; raise ValueError if a patch is missing or if there are several series."""
    numbered = [number for number, _ in patches if number[2] > 1]
    if len(patches) < 2 or not numbered:
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
