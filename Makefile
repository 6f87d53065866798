# Nutmeg. `make demo` plays a match in the browser, `make test` runs the tests; both set everything up first.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
READY := .venv/.ready

.PHONY: demo test test-quick test-device experiments check format bench docs lock clean system

demo: $(READY)
	$(BIN)/nutmeg demo $(ARGS)

test: $(READY) system
	$(BIN)/python -m pytest -n auto $(ARGS)

test-quick: $(READY)
	$(BIN)/python -m pytest -n auto -m "not slow and not browser" $(ARGS)

# What runs on a GPU, on Warp's processor device beside MuJoCo: adds the extra `gpu` to the environment, about a gigabyte.
test-device: $(READY)
	$(PIP) install --quiet --no-deps --require-hashes -r requirements-gpu.lock
	$(BIN)/python -m pytest tests/sim/test_warp_engine.py tests/reality/test_twin.py tests/learning/test_device_bouts.py tests/learning/policies/test_training.py $(ARGS)

# The small version of every experiment of `nutmeg reproduce`, about ten minutes; fails if a goal is missed that is not listed.
experiments: $(READY) system
	$(BIN)/nutmeg reproduce all --quick $(ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/nutmeg bench $(ARGS)

docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# The environment: exactly the locked versions, then this project on top of them.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Nutmeg needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { rm -rf .venv; sh scripts/system-packages.sh python3-venv && $(PYTHON) -m venv .venv; }
	@echo "Installing the locked packages into .venv, about a gigabyte: this takes some minutes, and happens once."
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	@touch $@
	@echo "The command is .venv/bin/nutmeg; type 'source .venv/bin/activate' and it is nutmeg in this shell."

# Pictures, videos and browser tests need a renderer and Chromium: installed where we may, else named.
system:
	@sh scripts/system-packages.sh

# Writes the lock anew (needs uv, which only those who change dependencies need). mujoco_warp asks for `mujoco` 3, whose
# files would replace those of `mujoco-core` 4: it is left out, and that lock is installed without dependencies.
lock:
	uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock
	uv pip compile pyproject.toml --extra all --extra gpu -c requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate --no-emit-package mujoco --quiet -o requirements-gpu.lock

clean:
	rm -rf .venv docs/_build .pytest_cache .mypy_cache .ruff_cache
