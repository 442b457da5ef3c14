# Everything here makes its own environment (.venv) and needs nothing but Python 3.11+ and a package index.
.PHONY: help demo test test-slow lint format bench docs clean
.DEFAULT_GOAL := help

BIN := .venv/bin
READY := .venv/.ready
INPUTS := pyproject.toml constraints/pinned.txt tools/environment

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY)-%: $(INPUTS)
	@tools/environment $*

demo: $(READY)-demo ## anonymize the bundled Adult data and write a report
	@$(BIN)/python examples/publish_adult.py demo-output

test: $(READY)-test ## run the tests that take minutes at most
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test-slow: $(READY)-test ## run the long tests
	@$(BIN)/python -m pytest -m slow

lint: $(READY)-lint ## check style, types and the import rule
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests/readme_types.py
	@$(BIN)/lint-imports

format: $(READY)-lint ## rewrite files in the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(READY)-bench ## measure, with peers beside us where they can be installed
	@for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

docs: $(READY)-docs ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir site
	@echo "Documentation: site/index.html"

clean: ## remove the environment and everything that was built
	rm -rf .venv site demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
