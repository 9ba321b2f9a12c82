"""An OpenID Connect provider on this machine, with real keys and signatures. It can be told to misbehave."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "medjury-panel"
Claims = dict[str, Any]


@cache
def _first_key() -> rsa.RSAPrivateKey:
    """Made once: it takes half a second."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class LoopbackProvider:
    """Signs everybody in as `account` at once; what it does wrong is said before."""

    def __init__(self) -> None:
        self.account: Claims = {"sub": "u-1", "email": "roe@hospital.example", "email_verified": True}
        self.change: Callable[[Claims], None] = lambda claims: None
        self.sign: Callable[[Claims], str] = self.signed
        self.discovery: Claims = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.key = _first_key()
        self.kid = "one"
        self.asked: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(urlsplit(self.path).path)
                if self.path == "/.well-known/openid-configuration":
                    self._json(provider.about())
                elif self.path == "/keys":
                    self._json({"keys": [provider.public_key()]})
                elif self.path.startswith("/authorize?"):
                    self.send_response(302)
                    self.send_header("Location", provider.authorize(self.path))
                    self.end_headers()
                else:
                    self.send_response(302)
                    self.send_header("Location", "/keys")
                    self.end_headers()

            def do_POST(self) -> None:
                provider.asked.append(self.path)
                sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                self._json(provider.token({name: values[0] for name, values in sent.items()}))

            def _json(self, content: Claims) -> None:
                body = json.dumps(content).encode()
                self.send_response(400 if "error" in content else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> LoopbackProvider:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def about(self) -> Claims:
        addresses = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return {
            "issuer": self.issuer,
            **{name: self.issuer + path for name, path in addresses.items()},
            **self.discovery,
        }

    def public_key(self) -> Claims:
        shown: Claims = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {**shown, "kid": self.kid, "use": "sig"}

    def authorize(self, path: str) -> str:
        """Sign the person in and send the browser back with a code."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        assert asked["code_challenge_method"] == "S256" and asked["response_type"] == "code"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.issuer})}"

    def token(self, sent: dict[str, str]) -> Claims:
        """The token for a code, once, for whoever knows what the sign-in began with."""
        asked = self.codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]
            or sent["redirect_uri"] != asked["redirect_uri"]
        ):
            return {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": asked["client_id"], "iat": now, "exp": now + 300, **self.account}
        claims["nonce"] = asked["nonce"]
        self.change(claims)
        return {"access_token": "x", "token_type": "Bearer", "id_token": self.sign(claims)}

    def signed(self, claims: Claims, key: rsa.RSAPrivateKey | None = None, kid: str | None = None) -> str:
        return jwt.encode(claims, key or self.key, algorithm="RS256", headers={"kid": kid or self.kid})
