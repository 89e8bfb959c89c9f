"""Remote session: entries over HTTP to `verbatim serve`, which keeps them. No Node is needed."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from ._command import VerbatimError, json_of

PAGE = 500


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Another server would get the token."""


class RemoteSession:
    """A session on a server: a new one, or the one that has this id there.

    A request is repeated for `patience` seconds while the server does not answer or is starting.
    It has a key, so that a repeated append is written once.
    """

    def __init__(
        self,
        session: str | None = None,
        *,
        url: str,
        token: str | None = None,
        folder: str | None = None,
        patience: float = 30,
    ) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise VerbatimError("BAD_SETTING", "url is the address of a server, such as https://…")
        self._url, self._token, self._patience = url.rstrip("/"), token, patience
        self._opener = urllib.request.build_opener(_NoRedirect)
        options = {"id": session or str(uuid.uuid4()), **({"folder": folder} if folder else {})}
        self.id: str = self._ask("/v1/sessions", json_of(options))["id"]
        self._path = f"/v1/sessions/{urllib.parse.quote(self.id, safe='')}"

    def append(self, entry: Mapping[str, Any]) -> int:
        """Appends an entry. Returns, once it is durable there, the offset after it in the log."""
        return self.send([entry]).result()

    def send(self, lines: Sequence[Mapping[str, Any]]) -> Future[int]:
        done: Future[int] = Future()
        done.set_result(
            self._ask(f"{self._path}/entries", json_of(lines), str(uuid.uuid4()))["end"]
        )
        return done

    def entries(self, last: int | None = None) -> Iterator[dict[str, Any]]:
        """All entries, or the last ones. The first is of kind `start`, by the server."""
        query = "from=0" if last is None else f"limit={last}"
        while True:
            page = self._ask(f"{self._path}/entries?{query}")
            for each in page["entries"]:
                yield {**each, **(each.pop("entry") or {})}
            if last is not None or page["isAtEnd"]:
                return
            query = f"from={page['next']}&limit={PAGE}"

    def verify(self) -> dict[str, Any]:
        """Checks the signatures, with the keys that the server trusts."""
        return self._ask(f"{self._path}/verify")

    def close(self) -> None:
        """Nothing is open: each append is durable."""

    def __enter__(self) -> RemoteSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, path: str, body: str | None = None, key: str | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Idempotency-Key": key} if key else {}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        data = None if body is None else body.encode()
        until, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                request = urllib.request.Request(self._url + path, data, headers)
                with self._opener.open(request, timeout=self._patience) as answer:
                    page: dict[str, Any] = json.load(answer)
                    return page
            except urllib.error.HTTPError as refusal:
                error = _error_of(refusal)
                if refusal.code not in (429, 503):
                    raise error from None
            except (OSError, http.client.HTTPException, ValueError) as cause:
                error = VerbatimError("IO_ERROR", f"{self._url} does not answer: {cause}")
            if time.monotonic() + pause > until:
                raise error
            time.sleep(pause)
            pause = min(2 * pause, 2)


def _error_of(refusal: urllib.error.HTTPError) -> VerbatimError:
    try:
        error = json.load(refusal)["error"]
        return VerbatimError(error["code"], error["message"])
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return VerbatimError("REQUEST_REFUSED", f"the server answered {refusal.code}")
