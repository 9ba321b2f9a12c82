"""The validated run, the endpoint and the passport of the tests of passports."""

from tests.passports.conftest import passport as passport
from tests.passports.conftest import run as run
from tests.passports.conftest import server as server
from tests.passports.conftest import validated as validated
from tests.postgres import postgres_server as postgres_server
from tests.postgres import postgres_url as postgres_url
