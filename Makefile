# Everything a person or CI runs. Needs make and a Python >= 3.11, nothing else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
THREADS ?= 1
FUZZ ?= 10000
PORT ?= 8757
DEMO ?=
# Tests that compare floating-point results of two computations; run again as on another CPU.
NUMERIC := tests/fast/cpu tests/fast/test_choose.py tests/metrics tests/onnx tests/score \
	tests/stream tests/train tests/test_parity.py tests/test_saved_models.py

# The second run, and the processes that tests start, need not compile the sources once more.
KEEP_COMPILED := PYTHONDONTWRITEBYTECODE=

# pip with its progress; of its messages only warnings about package locations that this machine is
# configured to search but cannot are left out.
pip_install = $(BIN)/python -m pip install --disable-pip-version-check --no-warn-script-location \
	--constraint constraints.txt $(1) 2>.venv/pip-messages.txt; \
	status=$$?; grep -v '^WARNING: Location ' .venv/pip-messages.txt >&2; exit $$status

.DEFAULT_GOAL := help
.PHONY: help setup demo live-demo site gallery outputs paper-smoke test test-more browser live fuzz package check lint types imports unit test-slow \
	format clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY)  ## create .venv and install axonad with everything its tests need

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "axonad needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@echo "creating .venv"
	@$(PYTHON) -m venv .venv
	@echo "1/2 torch, the largest download"
	@$(call pip_install,torch)
	@echo "2/2 axonad with its other dependencies and the development tools"
	@$(call pip_install,--editable '.[dev]')
	@touch $@
	@echo 'ready: run `make demo` or `make test`'

demo: $(READY)  ## simulate a drive, plant faults, find them; writes demo/
	$(BIN)/axonad demo --out demo --force $(DEMO)

live-demo: $(READY)  ## watch eight simulated cars on a page, one of which develops a fault
	$(BIN)/axonad live --demo --port $(PORT)

paper-smoke: $(READY)  ## a miniature of the paper's experiments; writes results/paper-smoke/
	OMP_NUM_THREADS=1 $(BIN)/axonad paper all --small --device cpu --out results/paper-smoke

test: check unit  ## lint, types, import rule and tests

check: lint types imports

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-cache

unit: $(READY)
	OMP_NUM_THREADS=$(THREADS) $(KEEP_COMPILED) $(BIN)/python -m pytest -n 2
	OMP_NUM_THREADS=1 $(KEEP_COMPILED) OPENBLAS_CORETYPE=Haswell ATEN_CPU_CAPABILITY=default \
		$(BIN)/python -m pytest -n 2 $(NUMERIC)

test-more: $(READY)  ## what takes longer: a Ray cluster, the paper's experiments in miniature
	OMP_NUM_THREADS=$(THREADS) $(BIN)/python -m pytest -m ray
	OMP_NUM_THREADS=$(THREADS) $(BIN)/python -m pytest -m slow tests/cli/paper \
		tests/docs/test_demos.py tests/test_axon.py

browser: $(READY)  ## the pages of `axonad report` and `axonad live` in Chromium, which must be installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m browser -rs tests/browser

live: $(READY)  ## `axonad live` with PostgreSQL, brokers, Alertmanager; skipped where there are none
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m live -rs tests

site: $(READY)  ## build the documentation into site/, and run its longer pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	AXONAD_SITE=site OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m site tests/docs

gallery: $(READY)  ## draw the pictures of docs/gallery.md anew
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.docs.rewrite docs/gallery.md

outputs: $(READY)  ## run README, tutorials and notebooks, and write what comes out into them
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.docs.rewrite README.md docs/tutorials/*.md \
		docs/howto/tour.md examples/*.ipynb

fuzz: $(READY)  ## mutated data files, models, states and streams; FUZZ=10000 items of each kind
	AXONAD_FUZZ=$(FUZZ) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/fuzz

package: $(READY)  ## build dist/, check it, install it into an empty environment and use it there
	rm -rf dist
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist .
	AXONAD_DIST=dist $(BIN)/python -m pytest -m package tests/packaging

test-slow: $(READY)  ## the tests marked slow
	$(BIN)/python -m pytest -m slow

format: $(READY)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove .venv and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis demo site
