"""Downloads with the host's proxies, certificates and logins."""

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from assay.harness.errors import EnvironmentFailure
from assay.harness.masks import conceal
from assay.instances.toolchains.credentials import find_login

TIMEOUT = 60.0  # seconds without a byte after which a download is abandoned


@contextmanager
def open_url(url: str, headers: Mapping[str, str], seconds: float = TIMEOUT) -> Iterator[Any]:
    """Open a URL; raises EnvironmentFailure for any failure, also while its body is read."""
    request = _request(url, headers)
    try:
        with urlopen(request, timeout=seconds, context=_trust()) as answer:
            yield answer
    except HTTPError as error:
        error.close()
        raise EnvironmentFailure(f"{request.full_url} answers {error.code} {error.reason}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise EnvironmentFailure(f"no answer from {request.host} ({reason}); is there a network?") from None


def _request(url: str, headers: Mapping[str, str]) -> Request:
    """Make a request; a login in the URL or the person's netrc becomes a header, since urllib takes no such URL."""
    parts = urlsplit(url)
    request = Request(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), headers=dict(headers))
    if login := find_login(url, os.environ):
        conceal(login.forms)
        request.add_unredirected_header("Authorization", f"Basic {login.basic}")
    return request


def _trust() -> ssl.SSLContext:
    """Trust the system's certificates, SSL_CERT_FILE and pip's bundle."""
    context = ssl.create_default_context()
    for name in ("PIP_CERT", "REQUESTS_CA_BUNDLE"):
        bundle = os.environ.get(name, "")
        if Path(bundle).is_file():
            context.load_verify_locations(bundle)
    return context
