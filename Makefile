# The targets below are the whole of it; `make help` prints them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

NAME ?= go

.PHONY: help setup demo check test test-docker test-lang bench dist-check engine

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

setup: $(VENV)/.ready ## Install Assay and its development tools into .venv

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

engine:
	@scripts/ensure-engine.sh

demo: setup engine ## Evaluate bundled instances in containers, from nothing
	$(BIN)/assay demo

check: setup ## Lint, format check and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: setup engine ## All tests, with real containers
	$(BIN)/python -m pytest

test-docker: setup engine ## Only the tests that need containers
	$(BIN)/python -m pytest -m docker

test-lang: setup engine ## The hello projects of one language, built and run: make test-lang NAME=go
	$(BIN)/python -m pytest tests/languages -k "$(NAME)-"

bench: setup engine ## Where the time of one evaluation goes (10 runs of a bundled instance)
	$(BIN)/python scripts/bench.py

dist-check: setup ## Build the distribution and try the wheel in a clean environment
	$(BIN)/python -m pytest tests/test_wheel.py
