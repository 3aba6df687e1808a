# Every target works in a fresh clone: what it needs is installed first, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EMULATOR_VENV := .venv-emulator
UV := $(BIN)/uv
UV_VERSION := $(shell sed -n 's/^uv==\([^ ]*\).*/\1/p' requirements.txt)

VENV_READY := $(VENV)/.ready
EMULATOR_READY := $(EMULATOR_VENV)/.ready
NODE_READY := node_modules/.ready

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate

export PYTHONPATH := lambdas:clients:.
# The CDK library works with Node.js 20, but warns at every start that it is old.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

.DEFAULT_GOAL := help
.PHONY: help setup run token demo listen dashboard test check bench format openapi configuration lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV_READY) $(EMULATOR_READY) $(NODE_READY) ## Install what is missing (Python environments, CDK CLI)

$(VENV_READY): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(EMULATOR_READY): local/requirements.txt $(VENV_READY)
	$(PYTHON) -m venv $(EMULATOR_VENV)
	$(UV) pip sync --quiet --python $(EMULATOR_VENV)/bin/python --require-hashes local/requirements.txt
	@touch $@

$(NODE_READY): package.json package-lock.json .npmrc
	@command -v npm >/dev/null || { echo "npm is not on the PATH: install Node.js 20 or later" >&2; exit 1; }
	npm ci --silent
	@touch $@

run: setup ## Start the whole stack on this machine (PORT=4566, AUTH_PORT=4567, AUTH=iam|jwt); Ctrl-C stops it
	@exec $(BIN)/python -m local.run

token: setup ## Print a token for `make run AUTH=jwt` (TENANT=tenant-a, SUBJECT=alice, SCOPE="ops", EXPIRES=3600)
	@exec $(BIN)/python -m local.access_token

demo: setup ## Show the life of one session and the end of another, step by step
	@exec $(BIN)/python -m local.demo

listen: setup ## Print the events about sessions, while `make run` runs
	@exec $(BIN)/python -m local.event_listener

dashboard: setup ## Draw the running stack's dashboard into .local/dashboard.html (PERIOD=seconds)
	@exec $(BIN)/python -m local.dashboard

test: setup check ## Check, then run every test
	$(BIN)/python -m pytest

bench: setup ## Run the benchmarks and write docs/benchmarks.md and docs/costs.md
	$(BIN)/python -m bench.operations
	$(BIN)/python -m bench.growth
	$(BIN)/python -m bench.latency
	$(BIN)/python -m bench.cold_start
	$(BIN)/python -m bench.contention
	$(BIN)/python -m bench.claims
	$(BIN)/python -m bench.audit
	$(BIN)/python -m bench.packages
	$(BIN)/python -m bench.costs

check: setup ## Lint, formatting, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Fix formatting and what the linter can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

openapi: setup ## Write docs/openapi.json from the code
	@mkdir -p docs
	$(BIN)/python -m session_api.openapi > docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json

configuration: setup ## Write docs/configuration.md from infra/config.py
	$(BIN)/python -m infra.configuration_page > docs/configuration.md

lock: $(VENV_READY) ## Lock the requirements of each requirements.in, with hashes
	$(COMPILE) requirements.in --output-file requirements.txt
	$(COMPILE) lambdas/requirements.in --output-file lambdas/requirements.txt
	$(COMPILE) lambdas/authorizer/requirements.in --output-file lambdas/authorizer/requirements.txt
	$(COMPILE) local/requirements.in --output-file local/requirements.txt
	npm install --package-lock-only --silent

clean: ## Remove environments, caches, synthesized templates and local data
	rm -rf $(VENV) $(EMULATOR_VENV) node_modules cdk.out .local
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
