"""The README and the pages in docs/: links lead somewhere, both languages have the same pages, what they show is true.

Every shown command is parsed by the program's own parser. Every Python block is read, and its calls of public names
are bound to their signatures; `test_python_blocks_run` executes those that need no more than a run folder or minutes.
"""

import ast
import configparser
import inspect
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from babel.messages.pofile import read_po

import keras_transformer
from keras_transformer.cli.main import parser
from keras_transformer.config import FIELDS
from keras_transformer.config_file import LISTS, WORDS
from keras_transformer.data.catalog import PackagedCorpus, packaged_file
from keras_transformer.data.columns import ANSWER_NAMES, QUESTION_NAMES
from keras_transformer.data.released_runs import released_runs

ROOT = pathlib.Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
LANGUAGES = {
    language: sorted(page for page in (ROOT / "docs" / language).rglob("*.md") if "repository" not in page.parts)
    for language in ("en", "ko")
}
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", *LANGUAGES["en"], *LANGUAGES["ko"]]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ |> +)?(?:[A-Z_]+=\S+ |[^#]*\| *)*(?:\S*[/\\])?keras-transformer(?: (.*))?$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r"^### `(.+)`$", re.MULTILINE)


def commands(page):
    """The arguments of every keras-transformer command in the code blocks of a page."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for line in re.sub(r"\\\n|\|\n>", "", block).splitlines():
            if found := COMMAND.match(line):
                words = shlex.split(found[1] or "", comments=True)
                end = next((i for i, word in enumerate(words) if word[0] in "<>|&"), len(words))
                yield words[:end]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_files(page):
    links = [link for link in LINK.findall(page.read_text("utf-8")) if not re.match(r"https?:|#", link)]
    missing = [link for link in links if not (page.parent / link.partition("#")[0]).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_have_the_options_of_the_program(page):
    for words in commands(page):
        parser().parse_args(words)  # Ends the process, that is, the test, for an unknown command or option.


@pytest.mark.parametrize("readme", READMES, ids=lambda page: page.name)
def test_a_readme_is_read_in_minutes(readme):
    assert len(readme.read_text("utf-8").splitlines()) <= 150


def test_pages_name_the_address_of_the_repository_once_it_has_one():
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    address = setup["metadata"].get("url")
    clones = {page: re.findall(r"git clone (.+?) keras_transformer", page.read_text("utf-8")) for page in PAGES}
    assert sum(map(len, clones.values())) == 6
    for page, names in clones.items():
        assert {*names} <= ({address} if address else {"<this repository>", "<이 저장소>"}), page
    named = re.findall("^repository-code: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert named == ([address] if address else [])


@pytest.mark.parametrize(("language", "none"), [("en", "No run is released yet"), ("ko", "아직 공개된 run이 없습니다")])
def test_pages_say_whether_a_run_is_released(language, none):
    assert (none in texts_of(language)["how-to/chatbot"]) == (not released_runs())


def test_both_languages_have_the_same_pages_and_code():
    english, korean = ([page.relative_to(ROOT / "docs" / name) for page in LANGUAGES[name]] for name in ("en", "ko"))
    assert english == korean
    for name in english:
        pages = [ROOT / "docs" / language / name for language in LANGUAGES]
        numbers = [[len(words) for words in commands(page)] for page in pages]
        assert numbers[0] == numbers[1], name
        assert len({len(PYTHON.findall(page.read_text("utf-8"))) for page in pages}) == 1, name


def test_pages_link_to_themselves_in_the_other_language():
    for page in [*LANGUAGES["en"], *LANGUAGES["ko"]]:
        here, there = ("en", "ko") if page in LANGUAGES["en"] else ("ko", "en")
        other = ROOT / "docs" / there / page.relative_to(ROOT / "docs" / here)
        assert f"]({pathlib.Path(os.path.relpath(other, page.parent)).as_posix()})" in page.read_text("utf-8"), page


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_blocks_call_what_there_is(page):
    for block in PYTHON.findall(page.read_text("utf-8")):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module == "keras_transformer" and node.names[0].name != "*":
                assert {name.name for name in node.names} <= set(keras_transformer.__all__)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in keras_transformer.__all__:
                signature = inspect.signature(getattr(keras_transformer, node.func.id))
                if not any(isinstance(argument, ast.Starred) for argument in node.args):
                    signature.bind(*node.args, **{keyword.arg: keyword.value for keyword in node.keywords})


@pytest.mark.parametrize("name", ["how-to/decoding", "how-to/plots", "how-to/thresholds"])
def test_python_blocks_run_on_a_run(name, small_run, small_pairs, tmp_path, monkeypatch):
    for run in ("runs/demo", "runs/mine"):
        shutil.copytree(small_run, tmp_path / run)
    monkeypatch.chdir(tmp_path)
    for block in PYTHON.findall((ROOT / f"docs/en/{name}.md").read_text("utf-8")):
        exec(block, {"questions": list(small_pairs["question"])})


@pytest.mark.slow  # Trains three models.
def test_python_blocks_train(tmp_path, monkeypatch):
    head = packaged_file("small_talk").read_text("utf-8").splitlines()[:100]
    (tmp_path / "head.csv").write_text("\n".join(head), "utf-8")
    monkeypatch.setattr(PackagedCorpus, "prepared", tmp_path / "head.csv")
    monkeypatch.chdir(tmp_path)
    for pages in (["README.md"], ["docs/en/how-to/python.md", "docs/en/explanation/packing.md"]):
        names = {}
        for page in pages:
            for block in PYTHON.findall((ROOT / page).read_text("utf-8")):
                exec(block.replace("epochs=36", "epochs=1").replace("vocab_size=3000", "vocab_size=600"), names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_known_names_of_columns_are_listed(language):
    text = (ROOT / f"docs/{language}/how-to/corpus.md").read_text("utf-8")
    names = [tuple(row.replace(" ", "").split(",")) for row in re.findall(r"^\| (?:\w+) \| (\w+, .+) \|$", text, re.M)]
    assert names == [QUESTION_NAMES, ANSWER_NAMES]


def test_messages_to_look_up_are_those_of_the_program():
    sources = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "keras_transformer").rglob("*.py")]
    texts = {node.value for tree in sources for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    texts = [text for text in texts if isinstance(text, str)]
    with open(ROOT / "keras_transformer/locale/ko/LC_MESSAGES/keras_transformer.po", "rb") as file:
        translations = [message.string for message in read_po(file) if isinstance(message.string, str)]
    english, korean = (MESSAGE.findall(pages["how-to/troubleshooting"]) for pages in (texts_of("en"), texts_of("ko")))
    assert len(english) == len(korean) >= 20
    for messages, known in ((english, texts), (korean, translations)):
        for message in messages:
            pieces = [piece.strip(" `(),:;.") for piece in message.split("…")]
            assert all(any(piece in text for text in known) for piece in pieces), message


def test_the_python_api_has_all_public_names():
    for language in LANGUAGES:
        blocks = re.findall(r"^```{public-names}\n(.*?)^```", texts_of(language)["reference/python"], re.M | re.S)
        assert sorted(" ".join(blocks).split()) == keras_transformer.__all__


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_from_opennmt_names_what_there_is(language):
    rows = re.findall(r"^\| .+ \| (.+) \|$", texts_of(language)["how-to/from_opennmt"], re.MULTILINE)
    [commands_of_the_program] = [one for one in parser()._actions if isinstance(one.choices, dict)]
    options = {name for command in commands_of_the_program.choices.values() for name in command._option_string_actions}
    named = set(re.findall(r"--[a-z][a-z-]+", " ".join(rows)))
    settings = set(re.findall(r"`(\w+) = ", " ".join(rows)))
    assert named >= {"--beam", "--grow-vocabulary", "--norm-first"} and named <= options
    assert settings >= {"corpus", "schedule"} and settings <= {*FIELDS, *WORDS, *LISTS}


def texts_of(language):
    """The texts of all pages in a language by name."""
    names = {page.relative_to(ROOT / "docs" / language): page for page in LANGUAGES[language]}
    return {name.with_suffix("").as_posix(): page.read_text("utf-8") for name, page in names.items()}


def made_here(folder, names):
    """The names in a folder of the repository that git ignores: environments, runs, and what was built."""
    trained = {"runs", "build"} if pathlib.Path(folder) == ROOT else set()
    return trained | {"_build", "repository", "__pycache__"} | {name for name in names if name.startswith(".")}


@pytest.mark.slow  # Sphinx imports TensorFlow and renders the notebooks.
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_site_is_built_without_a_warning(language, tmp_path):
    docs = shutil.copytree(ROOT, tmp_path / "copy", ignore=made_here)
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--nitpicky", "--define", f"language={language}"]
    built = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", *options, "--conf-dir", docs / "docs", docs / "docs" / language, built]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(docs)})
    assert done.returncode == 0, done.stderr
    for page in LANGUAGES[language]:
        assert (built / page.relative_to(ROOT / "docs" / language).with_suffix(".html")).exists()
    reference = (built / "reference/commands.html").read_text("utf-8")
    assert all(text in reference for text in ("--label-smoothing", "keras-transformer data check", "--answer-by"))
    word = json.dumps("말뭉치" if language == "ko" else "corpus")[1:-1]  # The index is ASCII.
    assert word in (built / "searchindex.js").read_text("utf-8")
    pages = "".join(page.read_text("utf-8") for page in built.rglob("*.html"))
    assert "<mfrac>" in pages  # A formula is drawn by the browser itself.
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=.https?:", pages)  # No other host is asked.
    catalog = (ROOT / "docs/locales/ko/LC_MESSAGES/sphinx.po").read_text("utf-8")
    words = re.findall('^msgid "(.+)"$', catalog, re.MULTILINE)
    in_english = [text for text in words if re.search(rf"""(>|label="|title=")\s*{re.escape(text)}""", pages)]
    assert in_english == (words if language == "en" else [])  # Those of the theme.


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tables_to_migrate_by_have_options_and_files_that_there_are(language):
    rows = re.findall(r"^\| .*", texts_of(language)["how-to/migrating"], re.MULTILINE)
    ours = " ".join(cell for row in rows for cell in row.split("|")[2:])
    commands = next(action.choices for action in parser()._actions if isinstance(action.choices, dict))
    options = {option for command in commands.values() for option in command._option_string_actions}
    assert set(re.findall(r"--[a-z][a-z-]+", ours)) <= options
    files = re.findall(r"`(\w+/\w+\.py)`", ours)
    assert len(files) > 10
    assert [file for file in files if not (ROOT / "keras_transformer" / file).exists()] == []


def test_commands_are_found():
    assert ["chat", "runs/demo", "--cite"] in list(commands(READMES[0]))
    assert len(list(commands(ROOT / "docs/en/how-to/corpus.md"))) > 5


def layout_of(page):
    """Returns the names of the modules that a page shows, a set for each folder. Notes are in parentheses."""
    tree = page.read_text("utf-8").split("```\nkeras_transformer/\n")[1].split("\nnotebooks/")[0]
    modules, package, folder = {}, "", ""
    for line in re.sub(r"\([^)]*\)", "", tree).splitlines():
        subfolder, names = re.match(r" *([a-z]+/)?(.*)", line).groups()
        if not line.startswith("   "):
            package = folder = subfolder or ""
        elif subfolder:
            folder = package + subfolder
        modules.setdefault(folder, set()).update(re.findall(r"\w+", names))
    return modules


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_layout_shows_every_module(language):
    package = ROOT / "keras_transformer"
    modules = {}
    for path in package.rglob("*.py"):
        folder = path.parent.relative_to(package).as_posix()
        # Neither programs that are copied into exports nor the builders of the corpora are shown.
        if not folder.endswith("_files") and not folder.startswith("data/builders/"):
            modules.setdefault("" if folder == "." else f"{folder}/", set()).add(path.stem)
    modules = {folder: names - ({"__init__"} if folder else set()) for folder, names in modules.items()}
    modules = {folder: names for folder, names in modules.items() if names}
    assert layout_of(ROOT / f"docs/{language}/explanation/design.md") == modules
