# The two commands of the README: `make demo` and `make test`. Everything else serves them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: help install demo test test-simulations test-learned test-interop test-ray browser check bench size same-numbers mutants lock sbom docs clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

install: $(INSTALLED) ## make .venv with medjury, the embedded model and the tools for its tests

# What the demonstration needs and nothing else: the first page is there before the tools of the tests would be.
DEMONSTRATION := $(VENV)/.demonstration

# Every package is pinned by hash; a second run does nothing unless the lock or the metadata changed. uv takes ten
# seconds for what takes pip nine minutes; it is installed into each environment from the registry, by hash too. What a
# library warns of while it is compiled is then said here, and not in the middle of a test.
UV = -m uv pip install --quiet --compile-bytecode --require-hashes
define environment
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
endef

$(INSTALLED): requirements/uv.txt requirements/develop.txt pyproject.toml
	$(call environment,$(VENV))
	$(BIN)/python $(UV) --python $(BIN)/python -r requirements/develop.txt
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/medjury models pull
	touch $(INSTALLED)

$(DEMONSTRATION): requirements/uv.txt requirements/demo.txt pyproject.toml
	$(call environment,$(VENV))
	$(BIN)/python $(UV) --python $(BIN)/python -r requirements/demo.txt
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/medjury models pull
	touch $(DEMONSTRATION)

demo: $(DEMONSTRATION) ## a good jury on planted errors in seconds, then a small model live; no network
	$(BIN)/medjury demo

# Tests wait for servers, browsers and processes that they killed: one worker more than there are processors uses that.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)

# Tests write thousands of small databases, and each waits for the disk several times: a folder in memory does not,
# where there is one with room.
SCRATCH ?= $(shell df --output=avail -k /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 {print "/dev/shm/tmp"}')

# Many tests start processes: where bytecode may not be kept, each of them would compile the package anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: install browser ## run every test (OPTIONS="--hypothesis-seed=1" for pytest)
	$(BIN)/python -m compileall -q -j 0 src
	mkdir -p $(or $(SCRATCH),$(TMPDIR),/tmp)
	TMPDIR=$(or $(SCRATCH),$(TMPDIR),/tmp) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(OPTIONS)

test-simulations: install ## do intervals hold? studies drawn by the hundred (minutes; `make bench` has the whole table)
	$(BIN)/python -m pytest -n 2 -m simulation $(OPTIONS)

# Tests look at pages in a real browser; PostgreSQL comes with the requirements.
browser:
	@command -v chromium >/dev/null || { $(AS_ROOT) apt-get update -qq && \
	  $(AS_ROOT) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }

check: install ## lint, format and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

CATALOGUES := src/medjury/panel/locale
catalogues: install ## bring the raters' pages in other languages up to date with the sources: new words are empty there
	mkdir -p build
	$(BIN)/pybabel -q extract -F pyproject.toml --ignore-dirs '.*' -k marked -k plural:1,2 --omit-header --no-location -o build/medjury.pot src/medjury/panel
	$(BIN)/pybabel -q update -D medjury -i build/medjury.pot -d $(CATALOGUES) --omit-header --no-fuzzy-matching --ignore-obsolete -w 110

docs: install ## write the documentation as a site: build/docs/index.html, no network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: install ## measure speed beside the peers, as ratios (BEFORE=folder: beside an older checkout too)
	$(BIN)/python -m benchmarks $(if $(BEFORE),--before $(BEFORE))

size: ## lines, files, exported names, dataclasses and rooms, now and at a commit (BEFORE=f4d8ced4)
	$(PYTHON) benchmarks/_size.py $(or $(BEFORE),f4d8ced4)

same-numbers: install ## do the demonstration and the recipes print the numbers of an earlier commit? (BEFORE=commit)
	$(BIN)/python benchmarks/_same_numbers.py $(BEFORE)

mutants: install ## change the rooms that decide, one thing at a time: do the tests notice? (SAMPLE=100 of each room; hours for all)
	$(BIN)/python -m benchmarks._mutants $(or $(SAMPLE),0) $(SEED) $(ROOMS)

# What is learned has an environment of its own: torch for the CPU, and everything else by hash. `TORCH` is a wheel
# without CUDA's packages, which pip must be able to find; torch's own few needs are in the lock. It alone has no hash
# here: which wheel it is differs by the index and the machine, so that whoever sets TORCH names one that they trust.
LEARNED := .venv-learned
TORCH ?= torch==2.13.0
LEARNED_TESTS := tests/metrics/test_learned.py tests/models/test_transformers.py tests/studies/test_metric_raters.py \
  tests/studies/test_judges_in_process.py tests/tuning/training

$(LEARNED)/.installed: requirements/learned.txt pyproject.toml
	$(call environment,$(LEARNED))
	$(LEARNED)/bin/python $(UV) --python $(LEARNED)/bin/python --no-deps -r requirements/learned.txt
	$(LEARNED)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps "$(TORCH)"
	PYTHONPATH=src $(LEARNED)/bin/python -m medjury models pull
	touch $@

test-learned: $(LEARNED)/.installed ## run the tests of learned metrics and of training, with a torch for the CPU
	PYTHONPATH=src $(LEARNED)/bin/python -m pytest $(LEARNED_TESTS) $(OPTIONS)

# Other evaluation programs have an environment of their own too, each at the version that was tried.
INTEROP := .venv-interop

$(INTEROP)/.installed: requirements/interop.txt pyproject.toml
	$(call environment,$(INTEROP))
	$(INTEROP)/bin/python $(UV) --python $(INTEROP)/bin/python --no-deps -r requirements/interop.txt
	touch $@

# Inspect leaves a stream open, which is noticed when everything ends.
test-interop: $(INTEROP)/.installed ## run the tests of exchange with HELM, Inspect, deepeval, MLflow and MCP, with these programs
	PYTHONPATH=$(CURDIR)/src $(INTEROP)/bin/python -m pytest -W "ignore:Unclosed <MemoryObject:ResourceWarning" tests/suites/exchange tests/programs "tests/test_docs.py::test_a_page_does_what_it_says[interop]" $(OPTIONS)

# Ray too has an environment of its own, with what is learned beside it: judges in process and learned metrics are put
# on workers. `python -m benchmarks ray workers` measures in it, and takes longer.
RAY := .venv-ray

$(RAY)/.installed: requirements/ray.txt requirements/learned.txt pyproject.toml
	$(call environment,$(RAY))
	$(RAY)/bin/python $(UV) --python $(RAY)/bin/python --no-deps -r requirements/ray.txt
	$(RAY)/bin/python $(UV) --python $(RAY)/bin/python --no-deps -r requirements/learned.txt
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps "$(TORCH)"
	touch $@

test-ray: $(RAY)/.installed ## run the tests of studies on a Ray cluster, with two nodes on this machine
	PYTHONPATH=src $(RAY)/bin/python -m pytest tests/studies/test_ray.py tests/studies/test_ray_local.py $(OPTIONS)

# `neural` and `train` stay out: they bring torch, which weighs gigabytes; see `test-learned`.
EXTRAS := local speed report postgres anthropic google redact panel tuning languages images

# What the demonstration needs: the embedded model. Its versions are those of the tests.
DEMO := local speed

# What the container carries: everything that needs no torch.
IMAGE := local speed report postgres anthropic google panel tuning languages images

lock: ## renew the pinned requirements (needs uv)
	echo uv | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --output-file requirements/uv.txt
	uv pip compile pyproject.toml $(EXTRAS:%=--extra %) --group test --group check --group bench --group mutation --group build --group docs \
	  --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --output-file requirements/develop.txt
	uv pip compile pyproject.toml $(DEMO:%=--extra %) --group build --constraint requirements/develop.txt --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --output-file requirements/demo.txt
	uv pip compile pyproject.toml $(IMAGE:%=--extra %) --group build --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --output-file requirements/image.txt
	uv pip compile pyproject.toml --extra neural --extra train --extra tuning --group learned --overrides requirements/learned-overrides.txt \
	  --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-emit-package torch --no-emit-package sentence-transformers --output-file requirements/learned.txt
	uv pip compile pyproject.toml --extra inspect --group interop --overrides requirements/interop-overrides.txt \
	  --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --output-file requirements/interop.txt
	uv pip compile pyproject.toml --extra ray --extra postgres --extra local --extra speed --group ray --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --output-file requirements/ray.txt

sbom: install ## write what Medjury is made of (CycloneDX) and the licences of it all: dist/sbom.cdx.json, dist/licences.csv
	$(BIN)/python requirements/sbom.py

clean: ## remove what the commands above made
	rm -rf $(VENV) $(LEARNED) $(INTEROP) $(RAY) demo runs .pytest_cache .mypy_cache .ruff_cache
