"""The commands `data list`, `data show` and `data download`: corpora by name."""

import itertools
import json

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, table
from keras_transformer.cli.data_check import add_check
from keras_transformer.data.catalog import corpora, corpus_pairs, download_corpus, find_corpus

COLUMNS = ("name", "language", "pairs", "licence", "here")
SAMPLE = 3  # Pairs that `show` prints.


def add_data(commands):
    """The grammar of `data`, which has commands of its own."""
    data = add_command(
        commands, "data", None, "corpora: which there are by name, how to get them, and whether one of your own is fit",
        "keras-transformer data list",
    )  # fmt: skip
    parts = data.add_subparsers(title="commands", metavar="WHAT", required=True)
    add_list(parts)
    add_show(parts)
    add_download(parts)
    add_check(parts)


def add_list(commands):
    """The grammar of `data list`."""
    listing = add_command(
        commands, "list", run_list, "list the corpora that can be had by name", "keras-transformer data list --json"
    )
    listing.add_argument("--json", action="store_true", help="as JSON")


def add_show(commands):
    """The grammar of `data show`."""
    show = add_command(
        commands, "show", run_show, "say what a corpus holds, its licence, and how to cite it",
        "keras-transformer data show chatbot_ko",
    )  # fmt: skip
    show.add_argument("name", metavar="NAME", help="a name that `data list` has")
    show.add_argument("--json", action="store_true", help="as JSON")


def add_download(commands):
    """The grammar of `data download`."""
    download = add_command(
        commands, "download", run_download, "download and prepare a corpus, or go on where that stopped",
        "keras-transformer data download chatbot_ko",
    )  # fmt: skip
    download.add_argument("name", metavar="NAME", help="a name that `data list` has")
    download.add_argument(
        "--from", dest="files", metavar="FILE", nargs="+", default=(),
        help="files of the corpus that are here already, under any name",
    )  # fmt: skip


def run_list(options):
    """Prints the corpora."""
    if options.json:
        print(json.dumps([{name: facts(corpus)[name] for name in COLUMNS} for corpus in corpora()], indent=2))
        return 0
    print(table([COLUMNS, *(list_row(corpus) for corpus in corpora())]))
    return 0


def run_show(options):
    """Prints all that is known of a corpus, and the first pairs of one that is here."""
    corpus = find_corpus(options.name)
    sample = first_pairs(corpus)
    if options.json:
        print(json.dumps({**facts(corpus), "sample": sample}, ensure_ascii=False, indent=2))
        return 0
    print(f"{corpus.name}\n\n{corpus.description}\n\n{table(show_rows(corpus))}\n\n{corpus.citation}")
    if sample:
        print("\n" + table([(pair["question"], pair["answer"]) for pair in sample]))
    return 0


def run_download(options):
    """Brings a corpus here and prints its folder; progress goes to standard error."""
    corpus = find_corpus(options.name)
    if not corpus.is_here:
        import_tensorflow_quietly()
        download_corpus(options.name, options.files)
    print(corpus.prepared)
    return 0


def facts(corpus):
    """What is known of a corpus, for JSON."""
    return {
        "name": corpus.name,
        "language": corpus.language,
        "pairs": sum(corpus.parts.values()) or corpus.pairs,
        "licence": corpus.licence,
        "here": corpus.is_here,
        "description": corpus.description,
        "homepage": corpus.homepage,
        "citation": corpus.citation,
        "own_parts": corpus.has_own_parts,
        "parts": corpus.parts,
        "files": [{"url": file.url, "bytes": file.size, "sha256": file.sha256} for file in corpus.files],
        "downloads": str(corpus.downloads),
        "prepared": str(corpus.prepared),
    }


def list_row(corpus):
    """The cells of a corpus in the list."""
    known = facts(corpus)
    return (known["name"], known["language"], f"{known['pairs']:,}", known["licence"], "yes" if known["here"] else "no")


def show_rows(corpus):
    """What `show` says of a corpus below its description."""
    known = facts(corpus)
    whose = "its own" if corpus.has_own_parts else "the frozen split, by the questions"
    sizes = ", ".join(f"{part} {pairs:,}" for part, pairs in corpus.parts.items())
    yield "language", corpus.language
    yield "pairs", f"{known['pairs']:,}"
    yield "parts", f"{sizes} ({whose})" if sizes else whose
    yield "licence", corpus.licence
    yield "homepage", corpus.homepage
    for file in corpus.files:
        yield "file", f"{file.url} ({file.size:,} bytes)"
    yield "here", known["prepared"] if corpus.is_here else f"no: keras-transformer data download {corpus.name}"


def first_pairs(corpus):
    """The first pairs of a corpus for training; none unless it is here."""
    if not corpus.is_here:
        return []
    import_tensorflow_quietly()
    pairs = itertools.islice(corpus_pairs(corpus.name), SAMPLE)
    return [{"question": question, "answer": answer} for question, answer in pairs]
