"""The `attention` command: answers a question and writes a visualization of the attention weights."""

import pathlib

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, check_utf8, echo
from keras_transformer.cli.generation_options import add_strategy_options, in_words
from keras_transformer.decoding.options import check_strategy_options, generation_config
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.visualize import picture
from keras_transformer.visualize.attention import KINDS, numbered

PAGE = ".html"
OF_PICTURES = ("kind", "layer", "head")


def add_attention(commands):
    """Adds the `attention` command."""
    attention = add_command(
        commands, "attention", run_attention, _("visualize the attention weights of an answer"),
        "keras-transformer attention runs/first \"안녕하세요\" --output attention.html",
    )  # fmt: skip
    attention.add_argument("run", metavar="RUN", help=_("folder of the run"))
    attention.add_argument("question", metavar="QUESTION", help=_("the question"))
    attention.add_argument(
        "--output", metavar="FILE", required=True,
        help=_("file to write: .html for an interactive page, or .png, .svg, .pdf for a picture"),
    )  # fmt: skip
    pictures = attention.add_argument_group(_("pictures"), _("What to draw in a picture; a page shows everything."))
    pictures.add_argument(
        "--kind",
        choices=KINDS,
        help=_(
            "cross: from the answer to the question (default); encoder: within the question; decoder: within the answer"
        ),
    )
    pictures.add_argument("--layer", type=int, metavar="N", help=_("layer, from 1 (default: the last)"))
    pictures.add_argument("--head", type=int, metavar="N", help=_("head, from 1 (default: all)"))
    add_strategy_options(attention)


def run_attention(options):
    """Writes the file and prints the answer."""
    check_strategy_options(options)
    check_utf8(_("the question"), options.question)
    path = pathlib.Path(options.output)
    check_output(path, options)
    import_tensorflow_quietly()
    from keras_transformer.chat.attention_trace import trace_attention
    from keras_transformer.chat.chatbot import Chatbot

    generation = generation_config(options)
    check_run(options)
    bot = Chatbot.load(options.run)
    trace = trace_attention(bot, options.question, generation)
    write(path, trace, options)
    for answer, score in trace.answers:
        echo(in_words(answer, score, options))
    return 0


def check_output(path, options):
    """Raises `InputError` if the file cannot be written, or does not fit the options."""
    ending = path.suffix.lower()
    if ending in picture.ENDINGS:
        picture.check(path)
        return
    if ending != PAGE:
        raise InputError(
            _("{path}: name a file that ends in {endings}", path=path, endings=", ".join((PAGE, *picture.ENDINGS)))
        )
    picture.check_writable_path(path)
    for name in OF_PICTURES:
        if getattr(options, name) is not None:
            raise InputError(_("--{name} is an option of pictures; a page shows every kind, layer and head", name=name))


def check_run(options):
    """Raises `InputError` if the run has no such layer or head, or the question is too long for it."""
    from keras_transformer.runs.run import Run
    from keras_transformer.text.turns import question_ids

    run = Run(options.run)
    config = run.config
    for name, count in (("layer", config.num_layers), ("head", config.num_heads)):
        if (number := getattr(options, name)) is not None:
            numbered(name, number, count)
    [ids] = question_ids(run.tokenizer, [options.question], config.turns, config.max_length)
    if len(ids) > config.max_length:
        raise InputError(
            _(
                "the question has {tokens} tokens including start and end, but this run reads at most "
                "{max_length}: ask a shorter one",
                tokens=len(ids),
                max_length=config.max_length,
            )
        )


def write(path, trace, options):
    """Writes the page or the picture."""
    from keras_transformer.runs.atomic_io import write_atomically
    from keras_transformer.visualize.attention import plot_attention
    from keras_transformer.visualize.attention_html import attention_html

    if path.suffix.lower() == PAGE:
        write_atomically(path, attention_html(trace).encode("utf-8"))
        return
    heads = None if options.head is None else [options.head]
    picture.save(plot_attention(trace, options.kind or "cross", options.layer, heads), path)
