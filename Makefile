# make demo    train the demonstration chatbot (once) and talk to it
# make test    the test suite, in a quarter of an hour; make test-fast, the part that neither trains nor starts programs, in three
#              minutes; make test-hard runs the slow tests, such as series of kills, and then all tests with programs
#              traced and compiled by XLA as users' are, which make test does once, and where compilation is tested;
#              HARD="--fuzz-inputs 100000 --kills 100 --soak-minutes 120" has it test as hard as before a release
# make coverage  what all tests, the slow ones included, execute of the package: lines and branches, in an hour or more
# make mutants puts small errors into the heart of the package, which the tests have to notice; MUTANTS="--sample 100"
# make lint    ruff, the direction of imports, and the types (mypy)
# make bench   the measurements                make notebooks   executes the notebooks and builds them anew
# make catalog brings the catalog of Korean messages up to date with the code, and compiles it
# make released-run URL=BASE  packs the demonstration run (make demo) into dist/small_talk.zip, which is to be uploaded
#              below BASE, and prints its row of keras_transformer/data/released_runs.tsv
# make docs    builds the documentation site in docs/_build, English and Korean
# make clean   remove the environment and the demonstration run

PYTHON ?= python3
VENV ?= .venv
OLDEST_PYTHON ?= python3.11
OLDEST := .venv-oldest
BIN := $(VENV)/bin
RUN := runs/demo
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 20
CATALOG := keras_transformer/locale/ko/LC_MESSAGES/keras_transformer
# What XLA has compiled stays in memory until its process ends, some hundred MB of every training: where all tests compile,
# three processes in turn.
COMPILING := tests/benchmarks tests/decoding tests/export
TRAINING := tests/training

.PHONY: demo test test-fast test-hard test-oldest coverage mutants lint bench notebooks catalog released-run docs clean

demo: $(VENV)/installed
	@$(BIN)/keras-transformer demo --run $(RUN)

test-fast: $(VENV)/installed-test
	$(PYTEST) -m "not slow and not heavy"

test: $(VENV)/installed-test
	$(PYTEST) -m "not slow"

test-hard: $(VENV)/installed-test
	$(PYTEST) -m slow $(HARD)
	$(PYTEST) -m "not slow and not compiled" --compiled $(COMPILING)
	$(PYTEST) -m "not slow and not compiled" --compiled $(TRAINING)
	$(PYTEST) -m "not slow and not compiled" --compiled $(patsubst %,--ignore %,$(COMPILING) $(TRAINING))

test-oldest: $(OLDEST)/lowest
	$(MAKE) test VENV=$(OLDEST)

# In three parts, whose processes end between them: together they would need more memory than most machines have.
coverage: $(VENV)/installed-test
	@$(INSTALL) --editable ".[coverage]"
	rm -f .coverage
	$(PYTEST) --cov --cov-append --cov-report= -m "not slow and not heavy"
	$(PYTEST) --cov --cov-append --cov-report= -m "heavy and not slow"
	$(PYTEST) --cov --cov-append --cov-report= -m slow
	$(BIN)/coverage report --sort miss

mutants: $(VENV)/installed-test
	@$(INSTALL) --editable ".[mutants]"
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tests/hard/mutants.py $(MUTANTS)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

# With PEERS=FOLDER beside the peers' scripts that it holds; CORPUS=FILE and PEERS_PYTHON=PYTHON go with it.
bench: BENCH_OPTIONS = $(if $(PEERS),--peers "$(PEERS)") $(if $(PEERS_PYTHON),--peers-python "$(PEERS_PYTHON)")
bench: BENCH_OPTIONS += $(if $(CORPUS),--corpus "$(CORPUS)")
bench: $(VENV)/installed-test
	$(BIN)/python -m benchmarks $(BENCH_OPTIONS)

notebooks: $(VENV)/installed-test
	$(BIN)/python -m notebooks.build

# New messages are added with empty translations, which `tests/test_language.py` finds; unused ones are removed.
catalog: $(VENV)/installed-test
	$(BIN)/pybabel --quiet extract --no-default-keywords --keyword "_ translatable Message translate_count:1,2 setting:2 Entry:3 import_extra:3" --sort-by-file \
	  --add-location file --output-file $(CATALOG).pot keras_transformer
	$(BIN)/pybabel --quiet update --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --width 120 \
	  --locale ko --input-file $(CATALOG).pot --output-file $(CATALOG).po
	rm $(CATALOG).pot
	$(BIN)/pybabel --quiet compile --domain "keras_transformer argparse" --directory keras_transformer/locale

released-run: $(VENV)/installed
	@$(BIN)/python -m release.pack_run $(RUN) --url "$(URL)"

# -W: a warning, such as of a link to a page that is not there, is an error.
docs: $(VENV)/installed-test
	@cd docs && for language in en ko; do \
	  $(abspath $(BIN))/sphinx-build --quiet --fail-on-warning --keep-going --nitpicky \
	    --conf-dir . --define language=$$language $$language _build/$$language || exit 1; \
	done
	@echo "Open docs/_build/en/index.html or docs/_build/ko/index.html." >&2

clean:
	rm -rf $(VENV) $(OLDEST) $(RUN) docs/_build docs/*/repository

$(VENV)/installed: setup.cfg constraints.txt
	@echo "Installing into $(VENV) (TensorFlow is large: this takes some minutes the first time) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	@$(INSTALL) --editable ".[test,lint]"
	@touch $@

# Both marks, so that nothing newer is installed on top.
$(OLDEST)/lowest: setup.cfg constraints.txt | $(VENV)/installed
	@$(INSTALL) --editable ".[oldest]"
	@$(BIN)/uv venv --quiet --clear --python $(OLDEST_PYTHON) $(OLDEST)
	@$(BIN)/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[test]"
	@touch $(OLDEST)/installed $(OLDEST)/installed-test $@
