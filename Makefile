# Two commands: `make demo` and `make test`. Everything else is below them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
KERNEL := examples/compiled/gemm_mxfp8_gfx950_128x256x128_w8.hsaco

.PHONY: demo test test-all lint docs docs-outputs accuracy bench fuzz clean

$(BIN)/wavefit: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.test: $(BIN)/wavefit
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/.heavy: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,code,fuzz,heavy,triton,mcp]'
	touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

demo: $(BIN)/wavefit            ## the main job on the shipped kernel
	$(BIN)/wavefit report $(KERNEL) --chip MI355X --explain

test: lint                      ## everything that needs no heavy toolchain
	$(BIN)/python -m pytest -m 'not heavy' -n auto --dist worksteal

lint: $(VENV)/.test
	$(BIN)/ruff check src tests bench tools examples
	$(BIN)/ruff format --check src tests bench tools examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test-all: $(VENV)/.heavy docs   ## after `make test`: what needs Triton, LLVM's tools, an MCP client
	$(BIN)/python -m pytest -m heavy

docs: $(VENV)/.docs             ## the site, in English and Chinese, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

docs-outputs: $(VENV)/.heavy    ## what pages and READMEs show, written anew from real runs
	$(BIN)/python -m tools.docs_outputs

accuracy: $(VENV)/.test         ## recompute every agreement count and error from the oracles
	$(BIN)/python -m tests.accuracy

bench: $(VENV)/.test            ## our own timings and errors, as ratios within one run
	$(BIN)/python bench/start.py
	$(BIN)/python -m bench.feed
	$(BIN)/python -m bench.tiles
	$(BIN)/python bench/profiles.py
	$(BIN)/python -m bench.web
	$(BIN)/python -m pip install --quiet --disable-pip-version-check msgpack
	$(BIN)/python bench/read_kernels.py
	$(BIN)/python bench/corpus.py
	$(BIN)/python -m bench.surveys cache
	$(BIN)/python -m bench.surveys jobs

fuzz: $(VENV)/.test             ## coverage-guided, ten minutes a reader
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,fuzz]'
	$(BIN)/python -m tests.fuzz.run --seconds 600

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
