"""The model card of a run for the Hugging Face hub: metadata in YAML, and a description in Markdown.

It says what the run folder knows and invents nothing. What is not recorded, such as the license of a corpus that is not
from the catalog, is left to the owner of the card.
"""

import json
import math
import pathlib
import re
import shlex
import string

from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import EXCHANGES, Datastore, read_exchanges
from keras_transformer.config_file import HEADER, config_file_text
from keras_transformer.language import ENGLISH, KOREAN, language_of_context
from keras_transformer.language import translate as _
from keras_transformer.printable import printable_line
from keras_transformer.runs.run import WEIGHTS
from keras_transformer.runs.tensor_file import load_tensors
from keras_transformer.text.jamo import mostly_korean

CARD = "README.md"
TEMPLATES = pathlib.Path(__file__).with_name("hugging_face_files")
LIBRARY, TASK = "keras", "text2text-generation"
TAGS = ["transformer", "encoder-decoder", "seq2seq", "chatbot", "keras_transformer"]
LICENCES = {"CC0 1.0": "cc0-1.0", "MIT": "mit"}
"""The hub's names of licenses of the catalog."""
NOTHING_KNOWN = (None, "not stated")  # Licenses.
QUESTIONS = {ENGLISH: "hello", KOREAN: "안녕하세요"}


def model_card(run, parameters, folder, quantization):
    """Returns the text of a model card: in Korean if most answers of the corpus are Korean, else in English.

    Args:
        run: The `Run`.
        parameters: Its number of parameters.
        folder: The exported run folder.
        quantization: The type of its weights.
    """
    exchanges = read_exchanges(folder / EXCHANGES) if Datastore.exists(folder) else []
    korean = mostly_korean([one.answer for one in exchanges]) if exchanges else languages_of(run) == [KOREAN]
    language = KOREAN if korean else ENGLISH
    name, config = printable_line(run.path.resolve().name), run.config
    with language_of_context(language):
        template = string.Template((TEMPLATES / f"card.{language}.md").read_text("utf-8"))
        return template.substitute(
            metadata=metadata(run, name),
            name=name,
            folder=shlex.quote(name),
            path=json.dumps(name, ensure_ascii=False),
            question=QUESTIONS[language],
            corpus=printable_line(str(run.corpus["name"])),
            pairs=pairs_in_words(run.corpus),
            licence=licence_in_words(run.corpus),
            exchanges=exchanges_in_words(run, len(exchanges)),
            scores_about=scores_about(run),
            scores=scores_table(run),
            num_layers=config.num_layers,
            d_model=config.d_model,
            num_heads=config.num_heads,
            dff=config.dff,
            vocabulary=" + ".join(f"{one.vocab_size:,}" for one in run.tokenizers.values()),
            parameters=f"{parameters:,}",
            weights=quantization,
            max_length=config.max_length,
            settings=settings(run),
        )


# Metadata


def metadata(run, name):
    """Returns the YAML of the card, without what is not known."""
    entries = {
        "language": languages_of(run), **licence(run.corpus), "library_name": LIBRARY, "pipeline_tag": TASK,
        "tags": TAGS, "model-index": model_index(run, name),
    }  # fmt: skip
    lines = yaml({key: value for key, value in entries.items() if value})
    if "license" not in entries:
        lines.append("# " + _("Fill in the license of this folder, such as {example}", example="license: mit"))
    return "\n".join(lines)


def yaml(value, indent=""):
    """Returns a dictionary or list of JSON that is not empty as lines of YAML, whose scalars JSON's are, too."""
    lines = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        start = f"{indent}{key}:" if isinstance(value, dict) else f"{indent}-"
        if not isinstance(item, (dict, list)):
            lines.append(f"{start} {json.dumps(item, ensure_ascii=False)}")
            continue
        inner = yaml(item, indent + "  ")
        if isinstance(value, dict):
            lines += [start, *inner]
        else:
            lines += [f"{start} {inner[0].lstrip()}", *inner[1:]]
    return lines


def languages_of(run):
    """Returns the codes of the languages of a run's corpus; an empty list if they are not known."""
    return re.findall(r"\w+", run.corpus.get("language") or "")


def licence(corpus):
    """Returns the metadata about the license of a corpus; empty if it is not known."""
    name = corpus.get("licence")
    if name in NOTHING_KNOWN:
        return {}
    return {"license": LICENCES[name]} if name in LICENCES else {"license": "other", "license_name": name}


def model_index(run, name):
    """Returns the measured scores in the hub's format; empty if there are none."""
    metrics = [{"type": kind, "value": value, "name": about} for kind, value, about in scores_of(run)]
    if not metrics:
        return []
    corpus = printable_line(str(run.corpus["name"]))
    dataset = {"name": corpus, "type": corpus, "split": "train" if holds_nothing_out(run.corpus) else "validation"}
    return [{"name": name, "results": [{"task": {"type": TASK}, "dataset": dataset, "metrics": metrics}]}]


# Scores


def scores_of(run):
    """Yields the scores on validation pairs: the hub's name of each or ours, its value, and its description."""
    kinds = {
        "val_perplexity": ("perplexity", _("perplexity per token")),
        "val_accuracy": ("accuracy", _("share of tokens predicted right")),
        "val_bits_per_char": ("bits_per_char", _("bits per character")),
    }
    measured = load_tensors(run.path / WEIGHTS, run.id)[1]
    for name, (kind, about) in kinds.items():
        if math.isfinite(measured.get(name, math.nan)):
            yield kind, round(measured[name], 4), about
    answering = Answering.of_run(run)
    if answering.way in answering.chrf:
        about = _("chrF of the answers (by {way}) to {count} questions", way=answering.way, count=answering.questions)
        yield "chrf", answering.chrf[answering.way], about


def scores_about(run):
    """Returns what the scores were measured on."""
    if holds_nothing_out(run.corpus):
        return _("Nothing was held out: these are scores on the training pairs themselves, not on unseen questions.")
    return _("Measured on the validation split at the end of training, which also chose among the epochs.")


def scores_table(run):
    """Returns the scores as a Markdown table."""
    rows = [f"| {about} | {value:g} |" for _kind, value, about in scores_of(run)]
    return "\n".join(["| | |", "| --- | --- |", *rows])


def holds_nothing_out(corpus):
    """Returns whether the validation pairs of a corpus are its training pairs."""
    return corpus.get("validation") == corpus.get("pairs")


# Training data


def pairs_in_words(corpus):
    """Returns the number of pairs of a corpus, and of each split if it has any."""
    names = ("train",) if holds_nothing_out(corpus) else ("train", "validation", "test")
    splits = ", ".join(f"{name} {corpus[name]:,}" for name in names if corpus.get(name))
    return f"{corpus['pairs']:,} ({splits})"


def licence_in_words(corpus):
    """Returns the license of a corpus as text."""
    name = corpus.get("licence")
    return _("not known") if name in NOTHING_KNOWN else _(name)


def exchanges_in_words(run, count):
    """Returns whether the folder contains training data."""
    if count:
        return _(
            "**This folder contains the training data**: `{file}` holds {count:,} questions with their answers, word "
            "for word. Whoever can read the folder can read them.",
            file=EXCHANGES,
            count=count,
        )
    if run.corpus.get("corrections"):
        return _("This folder contains no training data but the answers taught later, in `config.json`.")
    return _("This folder does not contain the training data.")


# Training


def settings(run):
    """Returns the settings of a run as `config.toml`; of its parent run, if it has one, only the name."""
    rest = {"from": pathlib.PurePath(run.origin["path"]).name} if run.origin else {}
    return config_file_text(run.config.to_dict(), rest).removeprefix(HEADER).strip()
