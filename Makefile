# Two commands do everything: `make crawl` and `make test`. The rest is for people who change the code.
# Everything is installed into .venv inside this checkout; nothing else on the machine is touched, except that
# Debian packages a target needs are installed when it runs as root (and named when it does not).

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help test check bench format clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gossamer needs Python 3.11 or later; $(PYTHON) is older. Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); tools/debian python3-venv && $(PYTHON) -m venv $(VENV); }

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[dev,bench]'
	@touch $@

test: $(VENV)/.dev ## run every test
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## ruff (format, lint) and mypy --strict
	$(BIN)/ruff format --check src tests bench
	$(BIN)/ruff check src tests bench
	$(BIN)/mypy

format: $(VENV)/.dev ## let ruff rewrite what it can
	$(BIN)/ruff format src tests bench
	$(BIN)/ruff check --fix src tests bench

bench: $(VENV)/.bench ## CPU time of each pure rule beside the obvious library, and quality figures
	$(BIN)/python -m bench

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
