"""Batch jobs in the store: written down before they are handed over, open until each call's end is stored."""

from __future__ import annotations

from medjury.models import Job, JobCall
from medjury.store.ratings import StoreDesk, open_store

CALLS = [JobCall("a" * 64, 3, 0.25), JobCall("b" * 64)]
JOB = Job("job-1", "openai 127.0.0.1", "log", "2026-01-01T00:00:00+00:00", CALLS)


async def test_a_job_is_open_until_every_call_has_an_end(store_address: str) -> None:
    with open_store(store_address) as store:
        async with StoreDesk(store) as desk:
            await desk.intend(JOB)
    with open_store(store_address) as store:  # another process, days later
        async with StoreDesk(store) as desk:
            assert list(await desk.open_jobs(JOB.endpoint)) == [JOB]
            assert not await desk.open_jobs("anthropic 127.0.0.1")
            await desk.submitted(JOB.id, "batch-7")
            [found] = await desk.open_jobs(JOB.endpoint)
            assert found.provider_id == "batch-7" and found.calls == CALLS
            await desk.finished(JOB.id, ["a" * 64])
            [found] = await desk.open_jobs(JOB.endpoint)
            assert found.calls == CALLS[1:]
            await desk.finished(JOB.id, ["b" * 64])
            assert not await desk.open_jobs(JOB.endpoint)
