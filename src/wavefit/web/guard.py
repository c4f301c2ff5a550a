"""Who may use the page: only who opened it with its token, from this host and this origin."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_OWN_SITES = (None, "same-origin", "none")
"""What a browser says of a request from this page, or of an address that a person opened."""


@dataclass(frozen=True)
class Keys:
    """The token of the opening address, and the cookie that it is exchanged for: never the same text."""

    hosts: frozenset[str]
    """What the Host header may say."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = "wavefit"

    @classmethod
    def of(cls, host: str, port: int) -> Keys:
        """Keys for one server; the names of the loopback stand for each other."""
        names = {host, *(("127.0.0.1", "localhost", "::1") if is_loopback(host) else ())}
        return cls(frozenset(f"{_bracketed(name)}:{port}" for name in names), cookie=f"wavefit-{port}")

    def address(self, host: str, port: int) -> str:
        """What to open."""
        return f"http://{_bracketed(host)}:{port}/?{urlencode({'token': self.token})}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    return host in ("localhost", "::1") or host.startswith("127.")


class Guard:
    """Refuses what does not come from the page itself, and sets the headers of everything that goes out.

    Host: against DNS rebinding. Origin and Sec-Fetch-Site: against other pages in the same browser. The
    cookie (SameSite=Strict, HttpOnly) or `Authorization: Bearer TOKEN`: against other users of the machine.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refusal(Headers(scope=scope)) or self._entrance(Request(scope))
        await (answer or self.app)(scope, receive, guarded)

    def _refusal(self, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if headers.getlist("host") != [host] or host not in self.keys.hosts:
            return _refused(421, "this is not a host that wavefit serves")
        origins = headers.getlist("origin")
        if any(origin != f"http://{host}" for origin in origins):
            return _refused(403, "a page of another origin may not use wavefit")
        if headers.get("sec-fetch-site") not in _OWN_SITES:
            return _refused(403, "a page of another site may not use wavefit")
        return None

    def _entrance(self, request: Request) -> Response | None:
        """None for who holds the cookie or the token; the cookie for who opens the address."""
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and _same(given, self.keys.token):
            rest = [pair for pair in parse_qsl(request.url.query, True) if pair[0] != "token"]
            path = "/" + request.url.path.lstrip("/")  # `//host` would lead elsewhere
            answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
            answer.set_cookie(self.keys.cookie, self.keys.session, httponly=True, samesite="strict")
            return answer
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        held = _cookies(request.headers.getlist("cookie"), self.keys.cookie)
        if any(_same(each, self.keys.session) for each in held):
            return None
        if scheme.lower() == "bearer" and _same(bearer.strip(), self.keys.token):
            return None
        return _refused(403, "open the address that `wavefit serve` printed: it holds the token")


def _cookies(headers: Iterable[str], name: str) -> list[str]:
    found = []
    for header in headers:
        try:
            jar = SimpleCookie(header)
        except CookieError:
            continue
        if name in jar:
            found.append(jar[name].value)
    return found


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(f"wavefit: {why}\n", status)
