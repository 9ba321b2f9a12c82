"""Certificates are verified, and so is the name in them."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from tests.models.raw_server import Caller, answer, client_at, echo, on_both_loops, serving, told
from tests.models.samples import model_at, request

from medjury.models._connection import verifying_context
from medjury.models._faults import NotSentError
from medjury.models._http import UntrustedError


def certificate(folder: Path, *names: x509.GeneralName) -> tuple[Path, ssl.SSLContext]:
    """A certificate of its own making for these names, and a server that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    shown, secret = folder / "shown.pem", folder / "secret.pem"
    shown.write_bytes(made.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown, secret)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return shown, context


LOCAL = x509.IPAddress(ip_address("127.0.0.1"))


@on_both_loops
async def test_a_server_whose_certificate_is_trusted_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, context = certificate(tmp_path, LOCAL, x509.DNSName("localhost"))
    monkeypatch.setenv("SSL_CERT_FILE", str(shown))
    spoken: list[str | None] = []

    async def handle(caller: Caller) -> None:
        spoken.append(caller.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await echo(caller)

    async with serving(handle, ssl=context) as (address, callers):
        for host in ("127.0.0.1", "localhost"):
            secure = address.replace("http://127.0.0.1", f"https://{host}")
            async with client_at(secure) as client:
                bodies = [b"%d" % number * 9_000 for number in range(3)]
                replies = await asyncio.gather(*(client.post(secure, body) for body in bodies))
                assert [reply.body for reply in replies] == bodies
                assert (await client.post(secure, b"again")).body == b"again"
    assert len(callers) == 6 and set(spoken) == {"http/1.1"}


@pytest.mark.parametrize("wrong", ["authority", "name"])
@on_both_loops
async def test_a_server_that_cannot_be_trusted_is_told_nothing(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = x509.DNSName("other.example") if wrong == "name" else LOCAL
    shown, context = certificate(tmp_path, name)
    if wrong == "name":
        monkeypatch.setenv("SSL_CERT_FILE", str(shown))
    async with serving(told(answer(b"{}")), ssl=context) as (address, callers):
        secure = address.replace("http:", "https:")
        async with client_at(secure) as client:
            with pytest.raises(UntrustedError):
                await client.post(secure, b"")
        model = model_at("openai", secure)
        with pytest.raises(NotSentError, match=r"certificate of 127\.0\.0\.1 cannot be trusted") as caught:
            await model.ask(request())
        await model.close()
    assert caught.value.fatal and not caught.value.retry
    assert not [head for caller in callers for head in caller.heads]


@on_both_loops
async def test_a_server_without_tls_is_no_connection() -> None:
    async def handle(caller: Caller) -> None:
        await caller.reader.read(100)
        await caller.say(answer(b"", status=b"400 Bad Request"))

    async with serving(handle) as (address, callers):
        model = model_at("openai", address.replace("http:", "https:"))
        with pytest.raises(NotSentError, match=r"no connection to 127\.0\.0\.1: is the endpoint running"):
            await model.ask(request())
        await model.close()
    assert not [head for caller in callers for head in caller.heads]


def test_authorities_are_read_again_where_their_file_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, _ = certificate(tmp_path, LOCAL)
    monkeypatch.setenv("SSL_CERT_FILE", str(shown))
    before = verifying_context()
    assert verifying_context() is before
    certificate(tmp_path, LOCAL)
    assert verifying_context().get_ca_certs() != before.get_ca_certs()
