"""The README and the pages in docs/: links lead somewhere, both languages have the same pages, commands exist."""

import pathlib
import re
import shlex

import pytest

from keras_transformer.cli.main import parser

ROOT = pathlib.Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ |> +)?(?:[A-Z_]+=\S+ |[^#]*\| *)*(?:\S*[/\\])?keras-transformer(?: (.*))?$")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def commands(page):
    """The arguments of every keras-transformer command in the code blocks of a page."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for line in re.sub(r"\\\n|\|\n>", "", block).splitlines():
            if found := COMMAND.match(line):
                words = shlex.split(found[1] or "", comments=True)
                end = next((i for i, word in enumerate(words) if word[0] in "<>|&"), len(words))
                yield words[:end]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    links = [link for link in LINK.findall(page.read_text("utf-8")) if not re.match(r"https?:|#", link)]
    missing = [link for link in links if not (page.parent / link.partition("#")[0]).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_the_options_of_the_program(page):
    for words in commands(page):
        parser().parse_args(words)  # Ends the process, that is, the test, for an unknown command or option.


@pytest.mark.parametrize("readme", READMES, ids=lambda page: page.name)
def test_a_readme_is_read_in_minutes(readme):
    assert len(readme.read_text("utf-8").splitlines()) <= 150


def test_both_languages_have_the_same_pages_and_code():
    for page in sorted((ROOT / "docs").glob("*.ko.md")):
        english = page.with_name(page.name.replace(".ko.", "."))
        assert [len(words) for words in commands(page)] == [len(words) for words in commands(english)], page.name
    names = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert {name.replace(".ko.", ".") for name in names if ".ko." in name} == {n for n in names if ".ko." not in n}


def test_commands_are_found():
    assert ["chat", "runs/demo", "--cite"] in list(commands(READMES[0]))
    assert len(list(commands(ROOT / "docs/training.md"))) > 5
