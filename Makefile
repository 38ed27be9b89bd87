# Everything runs inside .venv, which a target makes first if it is missing. PYTHON=/usr/bin/python3.12 names another
# Python than the first supported one.
BIN := .venv/bin
CHECKOV := build/checkov/bin/checkov
SCENARIO ?= smoke
SEEDS ?= 1000
FIRST_SEED ?= 1
JOBS ?= 2
# Half of the time of the tests is waiting for real processes, so four processes use two cores.
TEST_PROCESSES ?= 4
# In a work tree .git is a file, and buf takes folders only.
GIT_FOLDER = $(shell git rev-parse --git-common-dir)
LAST_TAG = $(shell git describe --tags --abbrev=0 2>/dev/null)
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
IMAGE ?= localhost/croupier:$(VERSION)

export PYTHON

.PHONY: help install install-dev demo test test-all check format proto bench load ceiling capacity faults simulate \
	image image-test cluster dashboards lock checkov clean

help: ## lists the targets
	@echo 'make TARGET, of these:'
	@awk -F ':.*## ' '/^[a-z-]*:.*## /{printf "  %-12s %s\n", $$1, $$2}' Makefile

install: ## .venv with `croupier`, its services and the gateway
	@./install.sh requirements.lock

install-dev: ## .venv with everything for load tests, tests and checks too
	@./install.sh requirements-dev.lock

demo: install ## bots play whole games on real services, and a judge checks them
	$(BIN)/croupier demo

test: install-dev ## every layer on real components, in a few minutes
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal -q -m "not slow and not built"

test-all: export CROUPIER_TEST_TABLES ?= 6
# Whole load tests and fault runs use two cores by themselves.
test-all: TEST_PROCESSES = 2
test-all: install-dev $(CHECKOV) ## every test
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal -q -m "not built"

check: install-dev ## linters, types, imports, the contract and its generated code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(if $(LAST_TAG),$(BIN)/buf breaking --against '$(GIT_FOLDER)#tag=$(LAST_TAG)',@echo 'buf breaking: there is no tag yet')
	$(BIN)/python protos/generate.py --check
	$(BIN)/python clients/typescript/build.py --check
	$(BIN)/hadolint Dockerfile

format: install-dev ## the format and the fixes of ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proto: install-dev ## the code that is generated from the contract, and the web page
	$(BIN)/python protos/generate.py
	$(BIN)/python clients/typescript/build.py

bench: install-dev ## speed, beside baselines of the same run; PART=engine for one part
	$(BIN)/python -m benchmarks $(PART)

load: install-dev ## a load test with a judge; SCENARIO=evening TABLES=200 SECONDS=60 and more
	$(BIN)/croupier load --headless --only-summary --tags $(SCENARIO) $(if $(TABLES),--tables $(TABLES)) \
		$(if $(SECONDS),--run-time $(SECONDS)) $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(MIX),--mix $(MIX)) \
		$(if $(SEED),--seed $(SEED)) $(ARGS)

ceiling: install-dev ## the highest load with 100 ms for 99 of 100 actions
	$(BIN)/python -m benchmarks.ceiling $(ARGS)

capacity: install-dev ## memory for tables and streams
	$(BIN)/python -m benchmarks.capacity $(ARGS)

faults: install-dev ## kills, pauses and cuts of connections while a judge checks every table
	$(BIN)/python -m croupier_loadtest.faults $(if $(SEED),--seed $(SEED)) $(if $(SHORT),--short) $(if $(GATEWAY),--gateway) $(if $(TRANSPORT),--transport $(TRANSPORT)) --result faults.json

simulate: install-dev ## the engine in simulated time with faults, from many seeds
	$(BIN)/python -m croupier_loadtest.simulation --seeds $(SEEDS) --first $(FIRST_SEED) --jobs $(JOBS) --quiet

# BASE_IMAGE, INDEX_URL, EXTRAS, GAMES: see docs/image.md. These two need root on Debian; with Docker use docker build.
image: ## the image, as an archive of OCI
	VERSION=$(VERSION) image/build.sh $(IMAGE)

image-test: install-dev ## plays against containers of the image
	CROUPIER_TEST_IMAGE=$(IMAGE) $(BIN)/python -m pytest -q -m built tests/image

# On kubectl's current cluster, such as kind or minikube: docs/kubernetes.md.
cluster: install-dev ## croupier on kubectl's current cluster
	PATH="$(CURDIR)/$(BIN):$$PATH" k8s/laptop

dashboards: install-dev ## the dashboards of Grafana, from the metrics
	$(BIN)/python -m k8s.dashboards

# After a change of the dependencies in pyproject.toml.
lock: ## versions and hashes of all packages; UPGRADE=--upgrade takes the newest ones
	.ci/lock $(UPGRADE)

# The linter of manifests, which a slow test runs too (docs/decisions/0015).
checkov: $(CHECKOV) ## the linter of manifests, for a slow test

$(CHECKOV): .ci/checkov.lock | install-dev
	$(BIN)/python -m venv --clear build/checkov
	build/checkov/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement .ci/checkov.lock
	touch $@

clean: ## removes .venv, build and caches
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
