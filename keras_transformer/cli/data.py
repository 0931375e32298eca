"""The `data list`, `data show` and `data download` commands: the corpora of the catalog."""

import itertools
import json

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo, table
from keras_transformer.cli.data_check import add_check
from keras_transformer.data.catalog import corpora, corpus_pairs, download_corpus, find_corpus
from keras_transformer.language import translate as _

COLUMNS = ("name", "language", "pairs", "licence", "here")
SAMPLE = 3  # Pairs that `show` prints.


def add_data(commands):
    """Adds the `data` command and its subcommands."""
    data = add_command(
        commands, "data", None, _("list and download corpora, or check your own"),
        "keras-transformer data list",
    )  # fmt: skip
    subcommands = data.add_subparsers(title=_("commands"), metavar="WHAT")
    add_list(subcommands)
    add_show(subcommands)
    add_download(subcommands)
    add_check(subcommands)


def add_list(commands):
    """Adds the `data list` command."""
    listing = add_command(
        commands, "list", run_list, _("list the available corpora"), "keras-transformer data list --json"
    )
    listing.add_argument("--json", action="store_true", help=_("print JSON"))


def add_show(commands):
    """Adds the `data show` command."""
    show = add_command(
        commands, "show", run_show, _("show the contents, licence and citation of a corpus"),
        "keras-transformer data show chatbot_ko",
    )  # fmt: skip
    show.add_argument("name", metavar="NAME", help=_("name from `data list`"))
    show.add_argument("--json", action="store_true", help=_("print JSON"))


def add_download(commands):
    """Adds the `data download` command."""
    download = add_command(
        commands, "download", run_download, _("download and prepare a corpus, or resume a download"),
        "keras-transformer data download chatbot_ko",
    )  # fmt: skip
    download.add_argument("name", metavar="NAME", help=_("name from `data list`"))
    download.add_argument(
        "--from", dest="files", metavar="FILE", nargs="+", default=(),
        help=_("files of the corpus that were downloaded before, under any name"),
    )  # fmt: skip


def run_list(options):
    """Prints the list of corpora."""
    if options.json:
        echo(json.dumps([{name: facts(corpus)[name] for name in COLUMNS} for corpus in corpora()], indent=2))
        return 0
    headings = _("name"), _("language"), _("pairs"), _("licence"), _("here")
    echo(table([headings, *map(list_row, corpora())], right=[COLUMNS.index("pairs")]))
    return 0


def run_show(options):
    """Prints the details of a corpus, and its first pairs if it was downloaded."""
    corpus = find_corpus(options.name)
    sample = first_pairs(corpus)
    if options.json:
        echo(json.dumps({**facts(corpus), "sample": sample}, ensure_ascii=False, indent=2))
        return 0
    echo(f"{corpus.name}\n\n{corpus.description}\n\n{table(show_rows(corpus))}\n\n{corpus.citation}")
    if sample:
        echo("\n" + table([(pair["question"], pair["answer"]) for pair in sample]))
    return 0


def run_download(options):
    """Downloads a corpus and prints its folder; prints progress to standard error."""
    corpus = find_corpus(options.name)
    if not corpus.is_prepared:
        import_tensorflow_quietly()
        download_corpus(options.name, options.files)
    echo(corpus.prepared)
    return 0


def facts(corpus):
    """Returns the details of a corpus as a dictionary for JSON."""
    return {
        "name": corpus.name,
        "language": corpus.language,
        "pairs": sum(corpus.splits.values()) or corpus.pairs,
        "licence": corpus.licence,
        "here": corpus.is_prepared,
        "description": corpus.description,
        "homepage": corpus.homepage,
        "citation": corpus.citation,
        "own_parts": corpus.has_own_splits,
        "splits": corpus.splits,
        "files": [{"url": file.url, "bytes": file.size, "sha256": file.sha256} for file in corpus.files],
        "downloads": str(corpus.downloads),
        "prepared": str(corpus.prepared),
    }


def list_row(corpus):
    """Returns the row of a corpus in the list."""
    details = facts(corpus)
    return (
        details["name"],
        details["language"],
        f"{details['pairs']:,}",
        _(details["licence"]),
        _("yes") if details["here"] else _("no"),
    )


def show_rows(corpus):
    """Yields the rows of details that `data show` prints below the description."""
    details = facts(corpus)
    origin = _("its own") if corpus.has_own_splits else _("the frozen split, by the questions")
    sizes = ", ".join(f"{split} {pairs:,}" for split, pairs in corpus.splits.items())
    yield _("language"), corpus.language
    yield _("pairs"), f"{details['pairs']:,}"
    yield _("splits"), f"{sizes} ({origin})" if sizes else origin
    yield _("licence"), _(corpus.licence)
    if corpus.homepage:
        yield _("homepage"), corpus.homepage
    for file in corpus.files:
        yield _("file"), _("{url} ({size:,} bytes)", url=file.url, size=file.size)
    download = f"keras-transformer data download {corpus.name}"
    yield _("here"), details["prepared"] if corpus.is_prepared else _("no: {command}", command=download)


def first_pairs(corpus):
    """Returns the first training pairs of a corpus; empty if it was not downloaded."""
    if not corpus.is_prepared:
        return []
    if corpus.files:
        import_tensorflow_quietly()  # It reads what was downloaded.
    pairs = itertools.islice(corpus_pairs(corpus.name), SAMPLE)
    return [{"question": question, "answer": answer} for question, answer in pairs]
