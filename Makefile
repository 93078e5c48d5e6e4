# What there is to run. Everything lives in .venv; the first target that is made installs it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# What is tested and measured here leaves no worker behind.
export RECOLLECT_BACKGROUND := 0
# The tests start Python some thousand times: what is compiled once is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-neo4j test-frameworks test-browser test-faults test-long resolve check bench bench-ask bench-million
.DEFAULT_GOAL := test

# The sample archive, imported and searched in a throwaway memory.
demo: $(INSTALLED)
	$(BIN)/recollect demo

# All that is checked before a commit, in minutes; HYPOTHESIS_PROFILE=whole tries four times as many examples.
test: check
	$(BIN)/pytest -n 2 --dist loadfile -m "not slow and not neo4j and not long and not faults and not browser"

# What starts processes and servers, kills them, and tries every fault; it waits a lot, so three do it.
test-slow: $(INSTALLED)
	$(BIN)/pytest -n 3 --dist loadfile -m "slow and not neo4j and not long and not faults and not browser"

# Both engines are tried by the same tests; these are those on a Neo4j server, one for each process.
test-neo4j: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadfile -m "neo4j and not long and not faults and not browser"

# What kills and restarts a Neo4j server, one test after the other.
test-faults: $(INSTALLED)
	$(BIN)/pytest -m "faults and not long"

# The pages in a real browser: Chromium (its headless shell takes a sixth of the time) or Chrome, where the machine has one.
test-browser: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist worksteal -m "browser and not long"

# What takes longer: imports that are killed at random moments, large archives.
test-long: $(INSTALLED)
	HYPOTHESIS_PROFILE=whole $(BIN)/pytest -m long

# The protocols of frameworks, and REST under Schemathesis, with packages that are too many for the other tests: in an
# environment of its own.
FRAMEWORKS := .venv-frameworks
test-frameworks: $(FRAMEWORKS)/.installed
	$(FRAMEWORKS)/bin/pytest -m "not long" tests/frameworks

# Whether the newest agent frameworks can be installed beside Recollect: asks the package index, installs nothing.
resolve: $(INSTALLED)
	$(BIN)/python -m tools.resolve_beside

# Form, types and the direction of imports, in seconds.
check: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Quality and speed, as tables, JSON and plots in benchmarks/results; STORE=neo4j measures that engine as well.
STORE ?= sqlite
bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.run --store $(STORE)

# How good answers are: citations and words of the extract, intents, latency; questions that have no answer.
bench-ask: $(INSTALLED)
	$(BIN)/python -m benchmarks.ask --large 100000
	$(BIN)/python -m benchmarks.unanswered

# A million messages on SQLite: half an hour and 8 GB on disk.
bench-million: $(INSTALLED)
	$(BIN)/python -m benchmarks.million

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(FRAMEWORKS)/.installed: pyproject.toml
	test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group dev --group frameworks
	touch $@
