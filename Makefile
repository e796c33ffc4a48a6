# Everything runs in the project's own virtual environment, with the exact versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test check lint bench mutations fuzz format constraints clean
.DEFAULT_GOAL := test

demo: $(VENV)/runtime
	@$(BIN)/python -m examples.demo -o report

test: $(VENV)/dev
	@$(BIN)/python -m pytest -n auto --dist worksteal

check: lint test

# Formatting, lint, types and import contracts; prints nothing but what is wrong.
lint: $(VENV)/dev
	@$(BIN)/ruff format --quiet --check src tests benchmarks examples tools
	@$(BIN)/ruff check --quiet src tests benchmarks examples tools
	@result=$$($(BIN)/mypy) || { echo "$$result"; exit 1; }
	@result=$$($(BIN)/lint-imports) || { echo "$$result"; exit 1; }

bench: $(VENV)/dev
	@$(BIN)/python -m benchmarks

mutations: $(VENV)/dev
	@mkdir -p report
	@$(BIN)/python -m tools.mutation --json report/mutations.json

# Mutated files for every reader; options as in FUZZ="csv npz --count 1000 --seed 1 --seconds 60".
fuzz: $(VENV)/dev
	@$(BIN)/python -m tests.fuzz $(FUZZ)

format: $(VENV)/dev
	@$(BIN)/ruff format src tests benchmarks examples tools
	@$(BIN)/ruff check --fix src tests benchmarks examples tools

# Exact versions of all that a fresh environment installs, for when a lower bound in pyproject.toml has changed.
constraints:
	@rm -rf $(VENV)-fresh && $(PYTHON) -m venv $(VENV)-fresh
	@PIP_CONSTRAINT= $(VENV)-fresh/bin/python -m pip --quiet --disable-pip-version-check install hatchling '.[dev]'
	@$(VENV)-fresh/bin/python -m pip freeze --exclude ytheta > constraints.txt
	@rm -rf $(VENV)-fresh

clean:
	rm -rf $(VENV) report .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ytheta needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + "; set PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# pip writes the byte code of the packages that it installs, but not of an editable one: without it, every command would
# compile ytheta's sources again if Python is told not to write byte code.
$(VENV)/runtime: $(VENV)/python pyproject.toml constraints.txt
	@echo "setting up $(VENV) …" >&2
	@$(PIP) install --editable '.[report,mujoco]'
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/dev: $(VENV)/python pyproject.toml constraints.txt
	@echo "setting up $(VENV) with the tools for tests …" >&2
	@$(PIP) install --editable '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@ $(VENV)/runtime
