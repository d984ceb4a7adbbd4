# make demo | test | thorough | bench | docs | docs-test | lint | references | coverage | fuzz | sweep: each makes what it needs in .venv.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= dev# with an NVIDIA GPU: make test EXTRAS=dev,cuda13
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export PYTHONDONTWRITEBYTECODE =# hundreds of processes of the tests import what one has compiled
.PHONY: demo test thorough wheel nvcc bench docs docs-test lint references coverage fuzz sweep clean

demo: $(VENV)/.installed
	$(BIN)/gpustats demo

# Tests need no optimised kernels, but for those that are marked so.
PYTEST := GPUSTATS_OPTIMISE=$${GPUSTATS_OPTIMISE:-0} $(BIN)/python -m pytest -q -n auto --dist worksteal
test:
	$(MAKE) --jobs=2 nvcc lint wheel  # installing, mypy and pip have one process each
	$(PYTEST) -m 'not slow and not thorough'

# What `make test` leaves out (tests/helpers/thorough.py)
thorough: $(VENV)/.installed
	$(PYTEST) -m 'not slow and thorough'

wheel: $(VENV)/.installed
	tests/wheel.sh $(BIN)/python

nvcc: $(VENV)/.installed
	$(BIN)/gpustats generate build/generated --all
	$(BIN)/python tests/compile_generated.py build/generated

references: $(VENV)/.installed
	rm -rf tests/stored
	GPUSTATS_STORE=1 $(BIN)/python -m pytest -q -m 'not slow' $$(grep -rl --include='test_*.py' '^from stored import' tests)

coverage: $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --dist worksteal --cov

SECONDS ?= 1800# of random programs, or of random parameters: make fuzz SECONDS=36000
fuzz: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

sweep: $(VENV)/.installed
	$(BIN)/python -m tests.sweep --seconds $(SECONDS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m bench densities

docs: $(VENV)/.installed-docs  # all pages: of those that are not written anew, Sphinx 9 forgets the search's entries
	$(BIN)/sphinx-build --write-all --fail-on-warning --keep-going --quiet --jobs auto -d docs/_build/doctrees docs docs/_build/html
	@echo 'open docs/_build/html/index.html'

# Needs Chromium and its driver: apt install chromium chromium-driver
docs-test: docs $(VENV)/.installed-docs-test
	$(BIN)/python -m pytest -q tests/site --site docs/_build/html

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.installed: setup.py pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[$(EXTRAS)]'
	touch $@

$(VENV)/.installed-docs: setup.py pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[docs]'
	touch $@

$(VENV)/.installed-docs-test: $(VENV)/.installed-docs
	$(INSTALL) --editable '.[docs-test]'
	touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(INSTALL) --editable '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .coverage* gpustats-demo docs/_build
