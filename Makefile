# Few verbs. Each sets up what it needs from a fresh clone: `make demo` and `make test` are all a new reader needs.
PYTHON ?= python3
JOBS ?= 2
SECONDS ?= 60
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check golden fuzz bench docs clean

help:
	@echo 'make demo    convert a real export, check it, and show the verdict'
	@echo 'make test    everything that must hold: make check, then every test'
	@echo 'make check   ruff, mypy --strict, pyright'
	@echo 'make golden  write the golden files anew; read the difference before you commit it'
	@echo 'make fuzz    break exports for SECONDS (60) guided by coverage; SOURCES="zipkin otlp" chooses'
	@echo 'make bench   speed and memory beside bare parsing, and how often each interval holds the truth'
	@echo 'make docs    write the generated pages anew, and what the commands of the README print'
	@echo 'make clean   remove what the others made'

# The virtual environment for running, and on top of it what developing needs. Type checkers do not follow an editable
# install of this layout, hence the link.
$(VENV)/run.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable .
	@touch $@

$(VENV)/develop.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@mkdir -p .dev && ln -sfn .. .dev/labadapt
	@touch $@ $(VENV)/run.stamp

demo: $(VENV)/run.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh samples/demo.sh

check: $(VENV)/develop.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p labadapt.schema -p labadapt.adapters -p labadapt.engine -p labadapt.cli
	$(BIN)/pyright --pythonpath $(BIN)/python

test: check
	$(BIN)/python -m pytest -n $(JOBS)

golden: $(VENV)/develop.stamp
	$(BIN)/python -m pytest -q --write-golden

fuzz: $(VENV)/develop.stamp
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python tests/fuzz/fuzz.py $(SECONDS) $(SOURCES)

bench: $(VENV)/develop.stamp
	$(BIN)/python bench/convert.py
	$(BIN)/python bench/validate.py
	$(BIN)/python bench/fetch.py
	$(BIN)/python bench/reliability.py
	$(BIN)/python bench/intervals.py

docs: $(VENV)/develop.stamp
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) .dev build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
