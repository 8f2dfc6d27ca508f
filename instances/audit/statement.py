"""Underspecified statements: too short, nothing to reproduce, only a link or a picture. Pure."""

import re
from collections.abc import Iterator

from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.subject import Subject, plain

SHORT = 60
"""Number of words below which a statement is short: a third of the mean of SWE-bench, 195 (arXiv 2310.06770)."""
BARE = 3  # number of words of a body below which it is only a link or a picture
FEW = 15  # number of words of a body with pictures below which the pictures are its content

_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\s]*\)|<img\b[^>]*>|https?://\S+", re.IGNORECASE)
_IMAGE = re.compile(
    r"!\[[^\]\n]*\]\(|<img\b|https?://\S+\.(?:png|jpe?g|gif|svg|webp)\b|https?://\S*/(?:user-images|assets)[./]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Characters of scripts without blanks between words; two count as one word."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|[A-Z][\w ]{2,30})\s*$")

_CODE = re.compile(r"""(?xm)
    ^\s*(?:```|~~~|\{\{\{)                                              # fences
    | ^\s*(?:>>>|\$|In\s\[\d+\]:)\s*\S                                  # prompts
    | ^\s*(?:import\s\w|from\s[\w.]+\simport\s|def\s\w+\(|class\s\w+\b.*[:{]$|\#include|func\s\w|fn\s\w|package\s\w)
    | ^\s*(?:const|let|var|public|private|return|assert|print)\b.*[;)}{\]]\s*$
    | ^\s*[\w.\[\]'"]+\s*(?:=|:=|\+=)\s*\S                              # an assignment
    | ^\s*[\w.:>$-]+(?:\([^)]*\))?(?:\.\w+)*\(.*\)\s*;?\s*$             # a call
    | ^\s*(?:SELECT|INSERT|UPDATE|CREATE|ALTER|DELETE)\s                # a query
    | ^\s*</?[a-zA-Z][\w-]*[^<>\n]*>                                    # markup
""")
_TRACE = re.compile(r"""(?xm)
    Traceback\s\(most\srecent | ^\s*File\s".*",\sline\s\d+ | ^\s*at\s[\w.$<>/]+\( | panicked\sat | goroutine\s\d+
    | \b\w*(?:Error|Exception|Warning)\b\s*: | \berror\[E\d+\] | Segmentation\sfault | \bfatal:\s
""")
_NUMBERED = re.compile(r"(?m)^\s*(?:\d{1,2}[.)]|step\s\d+)\s+\S", re.IGNORECASE)
_STEPS = re.compile(
    r"(?im)^[\s#*]*(?:steps?\s(?:to\s)?reproduce|(?:how\s)?to\sreproduce|reproduction|reproducer|minimal\s\w*\s?example"
    r"|(?:expected|actual|current)\s(?:behaviou?r|results?|output))\b[^\n]*\n+(?P<next>[^\n]+)"
)


def no_link_for_a_statement(subject: Subject) -> Iterator[AuditFinding]:
    """Find statements whose body is only links, or pictures with few words."""
    text = plain(subject.instance.problem_statement)
    title, _, body = text.strip().partition("\n")
    body = body if body.strip() else title
    left, links = count_words(body), _LINK.findall(body)
    if not links or left >= FEW:
        return
    if _IMAGE.search(body):
        severity = Severity.FAULT if left < BARE else Severity.DOUBT
        yield subject.make_finding(AuditKind.IMAGE_ONLY, severity, f"pictures and {left} words", links)
    elif left < BARE:
        yield subject.make_finding(AuditKind.LINK_ONLY, Severity.FAULT, f"{len(links)} links and {left} words", links)


def too_little(subject: Subject) -> Iterator[AuditFinding]:
    """Find statements without code, error or steps to reproduce; short ones are underspecified.

    A statement is short below 60 words. Links, markup of templates and headings without text do not count.
    """
    text = plain(subject.instance.problem_statement)
    count, sentences = count_words(text), _sentences(text)
    if not count:
        yield subject.make_finding(AuditKind.UNDERSPECIFIED, Severity.FAULT, "the statement has no words")
    elif not reproduces(text):
        yield subject.make_finding(AuditKind.NO_REPRODUCTION, Severity.NOTE, "no code, no error and no steps")
        if count < SHORT:
            what = "one sentence" if sentences <= 1 else f"{count} words"
            summary = f"{what}, and no code, error or steps to reproduce"
            yield subject.make_finding(AuditKind.UNDERSPECIFIED, Severity.DOUBT, summary, [text.strip()[:500]])


def count_words(text: str) -> int:
    left = _LINK.sub(" ", text)
    return len(_WORD.findall(_IDEOGRAPH.sub(" ", left))) + len(_IDEOGRAPH.findall(left)) // 2


def reproduces(text: str) -> bool:
    """Return whether a statement has code, an error or steps to reproduce; a name in a sentence is not code."""
    if _CODE.search(text) or _TRACE.search(text) or len(_NUMBERED.findall(text)) >= 2:
        return True
    return any(not _HEADING.fullmatch(match["next"]) for match in _STEPS.finditer(text))


def _sentences(text: str) -> int:
    """Count the sentences below the title, or in it if there is nothing else; headings do not count."""
    title, _, body = text.strip().partition("\n")
    lines = [line for line in (body if body.strip() else title).split("\n") if line.strip()]
    prose = " ".join(line.strip() for line in lines if not _HEADING.fullmatch(line) or len(lines) == 1)
    return len([each for each in re.split(r"[.!?](?:\s|$)|[\u3002\uff01\uff1f]", prose) if _WORD.search(each)])
