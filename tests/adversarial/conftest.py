"""The small study of tests/studies, for attacks on a whole run; and one that was run, a copy for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.postgres import postgres_server, postgres_store, postgres_url  # noqa: F401 - fixtures
from tests.ratings.conftest import store, store_address  # noqa: F401 - fixtures
from tests.stoppable_postgres import own_server, own_url  # noqa: F401 - fixtures
from tests.studies.conftest import server, write_study, written  # noqa: F401 - fixtures

from medjury.report import write_page
from medjury.studies import load_study, run_study


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("finished")
    with LoopbackServer() as endpoint:
        study = written(place, endpoint.url, cases=4, report={"resamples": 200})
        write_page(run_study(load_study(study)).folder)
        yield place


@pytest.fixture
def study(_finished: Path, tmp_path: Path) -> Path:
    """The file of a study of four cases that was run; its report is made."""
    shutil.copytree(_finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "study.yaml"


@pytest.fixture
def folder(study: Path) -> Path:
    """The run folder of the finished study."""
    return study.parent / "runs" / "small"
