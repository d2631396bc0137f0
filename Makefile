# Two commands do everything: `make crawl` and `make test`. The rest is for people who change the code.
# Everything is installed into .venv inside this checkout; nothing else on the machine is touched, except that
# Debian packages a target needs are installed when it runs as root (and named when it does not).

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
ONLY ?=
.PHONY: help crawl test test-faults check bench bench-packages bench-frontier bench-freshness bench-traps bench-order soak fuzz docs constraints format clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gossamer needs Python 3.11 or later; $(PYTHON) is older. Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); tools/debian python3-venv && $(PYTHON) -m venv $(VENV); }

$(VENV)/.installed: pyproject.toml constraints.txt setup.py $(wildcard native/*) | $(BIN)/python
	@command -v cc >/dev/null || tools/debian gcc libc6-dev  # a small part is C: see native/
	@$(BIN)/python -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' || \
	  tools/debian python3-dev
	$(PIP) -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[dev,bench]'
	@touch $@

$(VENV)/.fuzz: $(VENV)/.dev
	$(PIP) -e '.[dev,fuzz]'
	@touch $@

URL ?=
ARGS ?=
crawl: $(VENV)/.installed ## crawl URL=https://example.com (more options: ARGS="--max-pages 100"); without URL: a synthetic web
	@if [ -n "$(URL)" ]; then $(BIN)/gossamer crawl $(URL) $(ARGS); else $(BIN)/gossamer demo --crawl $(ARGS); fi; \
	  status=$$?; [ $$status -eq 3 ] || exit $$status  # 3: a budget was spent, which is no failure

# pywb replays our archives in the tests; it asks for old versions of libraries, so it lives apart.
.venv-pywb/.installed: | $(BIN)/python
	$(PYTHON) -m venv .venv-pywb
	.venv-pywb/bin/python -m pip install --quiet --disable-pip-version-check 'pywb==2.10.0'
	@touch $@

test: $(VENV)/.dev .venv-pywb/.installed ## run every test
	@command -v openssl >/dev/null || tools/debian openssl  # certificates for the servers of the tests
	$(BIN)/python -m pytest

test-faults: $(VENV)/.dev ## the attacks of tests/faults in their long form (half an hour and more)
	GOSSAMER_FAULTS=long $(BIN)/python -m pytest -s tests/faults

check: $(VENV)/.dev ## ruff (format, lint) and mypy --strict
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/ruff check src tests bench tools
	$(BIN)/mypy

format: $(VENV)/.dev ## let ruff rewrite what it can
	$(BIN)/ruff format src tests bench tools
	$(BIN)/ruff check --fix src tests bench tools

bench-packages:
	@tools/debian nginx-light postgresql-doc-15 python3.11-doc wget wget2

bench: $(VENV)/.bench bench-packages ## CPU time and quality beside the obvious libraries and crawlers (ONLY="url crawl" for some)
	$(BIN)/python -m bench $(ONLY)

bench-frontier: $(VENV)/.dev ## 20 million URLs over a million hosts through the embedded engine (some minutes)
	$(BIN)/python -m bench.frontier

bench-freshness: $(VENV)/.bench ## recrawl policies on a simulated web beside perfect knowledge (some minutes; ARGS=--quick for less)
	$(BIN)/python -m bench.freshness $(ARGS)

bench-traps: $(VENV)/.bench bench-packages ## a web nine in ten of whose addresses are traps, beside Scrapy and wget (some minutes)
	$(BIN)/python -m bench.traps

GRAPH ?=
bench-order: $(VENV)/.bench ## PageRank captured by best-first and breadth-first, with and without link farms (GRAPH=edges.gz: another graph)
	$(BIN)/python -m bench.order $(if $(GRAPH),--graph $(GRAPH))

SECONDS ?= 3600
soak: $(VENV)/.bench ## a crawl of an hour (SECONDS=300 for less): memory, handles and throughput must not change
	$(BIN)/python -m bench.soak --seconds $(SECONDS)

MINUTES ?= 10
fuzz: $(VENV)/.fuzz ## everything that reads what others wrote, for MINUTES=10; what breaks is kept in build/fuzz
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(if $(ONLY),--only $(ONLY))

docs: $(VENV)/.dev ## write the pages that are made from the code
	$(BIN)/python -m tools.settings_page
	$(BIN)/python -m tools.commands_page
	$(BIN)/python -m tools.pages_page

constraints: ## renew the exact versions of a repeatable install
	rm -rf build/renew && $(PYTHON) -m venv build/renew
	build/renew/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,bench,fuzz]'
	(echo "# Exact versions of a repeatable install (make uses them with pip -c). Renew: make constraints"; \
	 build/renew/bin/python -m pip freeze --exclude-editable) > constraints.txt

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-pywb .mypy_cache .ruff_cache .hypothesis build src/*.egg-info src/gossamer/*.so
