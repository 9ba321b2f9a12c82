"""The small study of tests/studies, for attacks on a whole run."""

from tests.studies.conftest import server, write_study  # noqa: F401 - fixtures
