# Everything here makes its own environment (.venv) and needs nothing but Python 3.11+ and a package index.
.PHONY: help demo test test-slow test-extras packages integrations conda-test dbt-test airflow-test dagster-test r-test fuzz fuzz-kills mutants lint format prebuilt bench bench-scale spark-test docs clean
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
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal

test-slow: $(READY)-test ## run the long tests
	@$(BIN)/python -m pytest -m slow

packages: $(READY)-test ## build dist/: the sdist, a wheel with machine code and a pure one, the same bytes every time
	@tools/packages

test-extras: packages ## install the wheel with each extra in a fresh environment and use it; EXTRAS="core excel" names some
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/try_extras.py dist/kanopy-*-any.whl $(EXTRAS)

integrations: $(READY)-test ## dbt, Airflow, Dagster, R and conda, each installed and tested; says which could not be installed
	@$(BIN)/python tools/integrations.py

dbt-test: $(READY)-test ## a dbt project with the tests and the materialization of integrations/dbt, on DuckDB (.venv-dbt)
	@tools/environment dbt
	@$(BIN)/python -m pytest -rs tests/integrations/test_dbt.py -m "slow or not slow"

conda-test: $(READY)-test ## the conda recipe of integrations/conda: rendered, and built without a channel (.venv-conda)
	@tools/environment conda
	@$(BIN)/python -m pytest -rs tests/packaging/test_packages.py -k conda -m "slow or not slow"

airflow-test dagster-test: %-test: $(READY)-test ## the monthly release of examples/pipelines in Airflow and Dagster, without their servers
	@tools/environment $*
	@$(BIN)/python -m pytest -rs tests/integrations/test_pipelines.py -k $* -m "slow or not slow"

r-test: $(READY)-test ## the R package of integrations/r: its tests, its vignette, figures equal to Python; needs R with reticulate
	@tools/environment r
	@$(BIN)/python -m pytest -rs tests/integrations/test_r.py -m "slow or not slow"

fuzz: $(READY)-test ## random jobs judged by the textbook; JOBS=100000 sets how many of each kind, WHAT which (postgresql and spark too)
	@$(BIN)/python -m tests.fuzz.run --jobs $(or $(JOBS),100000) $(if $(WHAT),--what $(WHAT))

fuzz-kills: $(READY)-test ## runs of every engine killed at random moments leave nothing half-written; KILLS and TERMS
	@$(BIN)/python -m tests.fuzz.kills --kills $(or $(KILLS),100) --terms $(or $(TERMS),50)

mutants: $(READY)-test ## put known faults into a copy of the source: does a test notice each? (tests/mutations.toml)
	@$(BIN)/python tools/mutate $(FAULTS)

lint: $(READY)-lint ## check style, types and the import rule
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests/readme_types.py
	@$(BIN)/lint-imports

format: $(READY)-lint ## rewrite files in the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

prebuilt: $(READY)-test ## compile the loops that come with Kanopy anew (Linux on x86-64), after changing a *_kernel.py
	@NUMBA_OPT=0 NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= $(BIN)/python -m kanopy._compiler --prebuild

bench: $(READY)-bench ## measure, with peers beside us where they can be installed
	@for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

bench-scale: $(READY)-bench ## time and memory of large tables beside reading and rewriting them; SIZES="1e6 10e6 100e6"
	@$(BIN)/python benchmarks/scale/run.py $(SIZES)

spark-test: $(READY)-test ## the same jobs on Spark in this process, on two worker processes and on a standalone cluster; needs Java 17
	@$(BIN)/pip install -q "pyspark>=4,<5"
	@for master in "local[2]" "local-cluster[2,1,1024]" standalone; do KANOPY_SPARK=$$master $(BIN)/python -m pytest tests/engine/test_spark.py || exit 1; done

docs: $(READY)-docs ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir site
	@echo "Documentation: site/index.html"

clean: ## remove the environment and everything that was built
	rm -rf .venv site demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
