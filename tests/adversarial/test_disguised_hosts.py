"""A host that only looks like this machine is not this machine, at the first check and at the last."""

from __future__ import annotations

import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import KINDS, model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.models import Gate, MemoryCache, ModelError
from medjury.models._hosts import is_local, is_loopback_address, normal_hosts

DISGUISED = [
    "127.0.0.1%2eevil.example", "127.0.0.1%00.evil.example", "127.0.0.1%25lo", "localhost%2eevil.example",
    "127.0.0.1.evil.example", "localhost.evil.example", "127.1.evil.example", "127.0.0.1%",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", DISGUISED)
async def test_a_disguised_host_passes_no_check(kind: str, host: str) -> None:
    assert not is_local(host) and not is_loopback_address(host)
    with pytest.raises((MedjuryError, ModelError), match=r"not a host name|allow_hosts"):
        Gate(cache=MemoryCache()).check([model_at(kind, f"http://{host}:9/v1")])
    with pytest.raises((MedjuryError, ModelError), match=r"not a host name|allow_hosts"):
        await model_at(kind, f"http://{host}:9/v1").ask(request())


def test_a_name_in_escapes_cannot_be_allowed() -> None:
    with pytest.raises(MedjuryError, match="is not a host name"):
        normal_hosts(["127.0.0.1%2eevil.example"])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "::1%lo", "::ffff:127.0.0.1", "localhost"])
def test_this_machine_is_known_by_all_its_names(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "target",
    ["http://[x/", "http://127.0.0.1:99999/x", "http://127.0.0.1:-1/", "http://[::1", "//user:pass5150@[/"],
)
async def test_a_redirect_to_no_address_is_refused_in_words(kind: str, target: str) -> None:
    with LoopbackServer(f"redirect:{target}") as server:
        model = model_at(kind, server.url)
        try:
            with pytest.raises(ModelError, match=r"Redirects are not followed|the answer is lost") as caught:
                await Gate(cache=MemoryCache(), attempts=1).ask(model, request())
        finally:
            await model.close()
    assert "pass5150" not in caught.value.message
