# Everything runs inside .venv, which any target makes if it is missing or older than the lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
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

.PHONY: demo test test-all check format proto bench load ceiling capacity faults simulate image image-test cluster dashboards checkov clean install lock

demo: $(STAMP)
	$(BIN)/croupier demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal -q -m "not slow and not image"

test-all: export CROUPIER_TEST_TABLES ?= 6
# Whole load tests and fault runs use two cores by themselves.
test-all: TEST_PROCESSES = 2
test-all: $(STAMP) $(CHECKOV)
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal -q -m "not image"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(if $(LAST_TAG),$(BIN)/buf breaking --against '$(GIT_FOLDER)#tag=$(LAST_TAG)',@echo 'buf breaking: there is no tag yet')
	$(BIN)/python protos/generate.py --check
	$(BIN)/hadolint Dockerfile

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proto: $(STAMP)
	$(BIN)/python protos/generate.py

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(PART)

load: $(STAMP)
	$(BIN)/locust -f loadtest/locustfile.py --headless --only-summary --tags $(SCENARIO) $(if $(TABLES),--tables $(TABLES)) \
		$(if $(SECONDS),--run-time $(SECONDS)) $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(MIX),--mix $(MIX)) \
		$(if $(SEED),--seed $(SEED)) $(ARGS)

ceiling: $(STAMP)
	$(BIN)/python -m benchmarks.ceiling $(ARGS)

capacity: $(STAMP)
	$(BIN)/python -m benchmarks.capacity $(ARGS)

faults: $(STAMP)
	$(BIN)/python -m loadtest.faults $(if $(SEED),--seed $(SEED)) $(if $(SHORT),--short) $(if $(GATEWAY),--gateway) --result faults.json

simulate: $(STAMP)
	$(BIN)/python -m loadtest.simulation --seeds $(SEEDS) --first $(FIRST_SEED) --jobs $(JOBS) --quiet

# BASE_IMAGE, INDEX_URL, EXTRAS: see docs/image.md. These two need root on Debian; with Docker use docker build.
image:
	VERSION=$(VERSION) image/build.sh $(IMAGE)

image-test: $(STAMP)
	CROUPIER_IMAGE=$(IMAGE) $(BIN)/python -m pytest -q -m image tests/image

# On kubectl's current cluster, such as kind or minikube: docs/kubernetes.md.
cluster: $(STAMP)
	PATH="$(CURDIR)/$(BIN):$$PATH" k8s/laptop

dashboards: $(STAMP)
	$(BIN)/python -m k8s.dashboards

install: $(STAMP)

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# Every file is compared with its hash. The project itself needs no other file, so it is built without isolation.
$(STAMP): pyproject.toml requirements.lock
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) --require-hashes --requirement requirements.lock
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	touch $(STAMP)

# After a change of the dependencies in pyproject.toml. UPGRADE=--upgrade takes the newest versions.
lock:
	.ci/lock $(UPGRADE)

# The linter of manifests, which a slow test runs too (docs/decisions/0015).
checkov: $(CHECKOV)

$(CHECKOV): .ci/checkov.lock
	$(PYTHON) -m venv --clear build/checkov
	build/checkov/bin/python $(PIP_INSTALL) --require-hashes --requirement .ci/checkov.lock
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
