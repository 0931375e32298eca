"""The `keras-transformer` command: parses arguments, calls the library, and reports errors with an exit status."""

import contextlib
import itertools
import json
import os
import sys
import warnings
from functools import partial

from keras_transformer import __version__
from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.attention import add_attention
from keras_transformer.cli.calibrate import add_calibrate
from keras_transformer.cli.compare import add_compare
from keras_transformer.cli.completion import answer_shell
from keras_transformer.cli.console import (
    CLOSE,
    CommandParser,
    add_command,
    check_backend,
    check_utf8,
    echo,
    examples_of,
    help_of,
    parse,
)
from keras_transformer.cli.corrections import add_forget, add_teach
from keras_transformer.cli.data import add_data
from keras_transformer.cli.demo import add_demo
from keras_transformer.cli.doctor import add_doctor
from keras_transformer.cli.evaluate import add_evaluate
from keras_transformer.cli.export import add_export
from keras_transformer.cli.generation_options import (
    GENERATE,
    add_answer_by_option,
    add_cite_option,
    add_fallback_options,
    add_strategy_options,
    check_answer_by,
    in_words,
    requested_fallback,
    source_lines,
    tell_unfinished,
)
from keras_transformer.cli.import_tutorial import add_import_tutorial
from keras_transformer.cli.info import add_info
from keras_transformer.cli.language_option import add_language_option, choose_language
from keras_transformer.cli.plot import add_plot
from keras_transformer.cli.released_runs import use_released_runs
from keras_transformer.cli.report import add_report
from keras_transformer.cli.serve import add_serve
from keras_transformer.cli.studio import add_studio
from keras_transformer.cli.test import add_test
from keras_transformer.cli.train_options import add_train_options, complete, given_settings, ray_settings
from keras_transformer.compat import HelpByColumns
from keras_transformer.decoding.options import check_strategy_options, generation_config
from keras_transformer.errors import (
    InputError,
    ProcessLost,
    TrainingDiverged,
    WorkersLost,
    no_such_run,
    similar_path,
)
from keras_transformer.language import translate as _
from keras_transformer.presets import preset
from keras_transformer.printable import printable_line
from keras_transformer.text.turns import one_line

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130


def main(arguments=None):
    """Runs one command.

    Args:
        arguments: Command-line arguments; None for those of the process.

    Returns:
        The exit status: 0 for success, 1 for failure, 2 for wrong usage or input, 130 for an interrupt.
    """
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors)
    choose_language(arguments)
    top = parser()
    answer_shell(top)
    options = parse(top, arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            check_backend()
            use_released_runs(options)
            return options.command(options)
    except InputError as error:
        echo(printable_line(_("keras-transformer: error: {error}", error=error)), file=sys.stderr)
        return WRONG_INPUT
    except BrokenPipeError:
        # The reader of the output has closed the pipe. Redirect it so that Python does not report this again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        print_failure(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error)
        return FAILED
    except KeyboardInterrupt:
        echo(file=sys.stderr)
        return INTERRUPTED


def parser():
    """Returns the argument parser."""
    top = CommandParser(
        prog="keras-transformer",
        description=_("Train your own Transformer on questions and answers, then chat with it."),
        formatter_class=HelpByColumns,
    )
    top.add_argument(
        "--version", action="version", version=f"keras-transformer {__version__}",
        help=_("show program's version number and exit"),
    )  # fmt: skip
    add_language_option(top)
    top.set_defaults(command=help_of(top), parser=top)
    commands = top.add_subparsers(title=_("commands, in the order of use"), metavar="COMMAND")
    add_demo(commands)
    add_data(commands)
    add_train(commands)
    add_chat(commands)
    add_answer(commands)
    add_teach(commands)
    add_forget(commands)
    add_tokenize(commands)
    add_attention(commands)
    add_average(commands)
    add_import_tutorial(commands)
    add_evaluate(commands)
    add_compare(commands)
    add_report(commands)
    add_calibrate(commands)
    add_export(commands)
    add_test(commands)
    add_serve(commands)
    add_studio(commands)
    add_info(commands)
    add_doctor(commands)
    add_presets(commands)
    add_plot(commands)
    top.epilog = _("Examples (see COMMAND --help for details):\n{examples}", examples=examples_of(commands))
    return top


def add_train(commands):
    """Adds the `train` command."""
    train = add_command(
        commands, "train", run_train, _("train a model on a corpus, or resume a training"),
        "keras-transformer train pairs.csv --run runs/first", add_help=False,
    )  # fmt: skip
    add_train_options(train)


def add_chat(commands):
    """Adds the `chat` command."""
    chat = add_command(
        commands, "chat", run_chat, _("chat with a trained run; without a terminal, answer line by line"),
        "keras-transformer chat runs/first --beam 4",
    )  # fmt: skip
    chat.add_argument("run", metavar="RUN", help=_("folder of the run"))
    add_answer_by_option(chat)
    add_cite_option(chat)
    add_strategy_options(chat)
    add_fallback_options(chat)


def add_answer(commands):
    """Adds the `answer` command."""
    answer = add_command(
        commands, "answer", run_answer, _("answer a question, or many as a batch, one per line"),
        "keras-transformer answer runs/first < questions.txt > answers.txt",
    )  # fmt: skip
    answer.add_argument("run", metavar="RUN", help=_("folder of the run"))
    answer.add_argument(
        "words", metavar="QUESTION", nargs="*",
        help=_(
            "questions (default: read lines from standard input); more runs before them, with the same tokenizer, "
            "answer together with the first one (an ensemble)"
        ),
    )  # fmt: skip
    answer.add_argument(
        "--json", action="store_true", help=_("print one JSON object per line, with log-probabilities and sources")
    )
    add_answer_by_option(answer)
    add_cite_option(answer)
    add_strategy_options(answer)
    add_fallback_options(answer)


def add_tokenize(commands):
    """Adds the `tokenize` command."""
    tokenize = add_command(
        commands, "tokenize", run_tokenize, _("print the subword pieces and token ids of text"),
        "keras-transformer tokenize runs/first \"안녕하세요\"",
    )  # fmt: skip
    tokenize.add_argument("run", metavar="RUN", help=_("folder of the run"))
    tokenize.add_argument(
        "texts", metavar="TEXT", nargs="*", help=_("text to tokenize (default: read lines from standard input)")
    )
    tokenize.add_argument("--answers", action="store_true", help=_("use the tokenizer of the answers"))
    tokenize.add_argument("--json", action="store_true", help=_("print one JSON object per text"))


def add_average(commands):
    """Adds the `average` command."""
    average = add_command(
        commands,
        "average",
        run_average,
        _("average the weights of several epochs and validate the result (section 6.1)"),
        "keras-transformer average runs/first --last 5 --keep",
    )
    average.add_argument("run", metavar="RUN", help=_("folder of a run trained with --keep-epochs"))
    which = average.add_mutually_exclusive_group(required=True)
    which.add_argument("--last", type=int, metavar="N", help=_("average the last N epochs"))
    which.add_argument("--best", type=int, metavar="N", help=_("average the N best epochs"))
    average.add_argument(
        "--keep", action="store_true", help=_("save the average as the run's weights (after training has ended)")
    )
    average.add_argument(
        "--corpus", metavar="CORPUS", nargs="+", help=_("new path of the run's corpus, if it has moved")
    )


def add_presets(commands):
    """Adds the `presets` command."""
    presets = add_command(
        commands, "presets", run_presets, _("list the presets and their sizes"),
        "keras-transformer presets --json",
    )  # fmt: skip
    presets.add_argument("--json", action="store_true", help=_("print JSON with all settings"))


def run_train(options):
    """Trains a model; prints progress to standard error."""
    complete(options)
    check_utf8("--run", options.run)
    ray = ray_settings(options)
    from keras_transformer.data.corpus import Corpus

    # Before TensorFlow is imported, which takes seconds: a mistyped name is refused at once.
    corpus = Corpus(options.corpus, options.question, options.answer, options.encoding, options.validation)
    import_tensorflow_quietly()
    from keras_transformer.training.distributed.cluster import join_cluster, leave
    from keras_transformer.training.distributed.ray_launcher import train_on_ray
    from keras_transformer.training.trainer import train

    join_cluster(options.coordinator, options.processes, options.process)
    config = preset(options.preset) if options.preset else None  # None: that of the run, or the recommended one.
    files = {"tokenizer": options.tokenizer_file, "target_tokenizer": options.target_tokenizer_file}
    devices = {"devices": options.devices, "model_devices": options.model_devices}
    train_function = partial(train_on_ray, **ray) if ray else partial(train, **devices)
    settings = given_settings(options)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            summary = train_function(corpus, options.run, config, options.from_run, **files, settings=settings)
    except (TrainingDiverged, ProcessLost, WorkersLost) as error:
        print_failure(error)
        return leave(FAILED) if isinstance(error, ProcessLost) else FAILED
    return 0 if summary["finished"] else leave(INTERRUPTED)


def run_chat(options):
    """Chats on a terminal, or answers each line of standard input."""
    check_strategy_options(options)
    from keras_transformer.cli.chat import answer_lines, talk

    requested_fallback(options, generation_config(options))  # Report invalid options before loading anything.
    check_answer_by(options, options.run)
    tell_unfinished(options.run)
    if sys.stdin and sys.stdin.isatty() and sys.stdout.isatty():
        talk(options.run, options)
    else:
        answer_lines(options.run, read_lines(sys.stdin), options)
    return 0


def run_answer(options):
    """Answers the questions of the command line, or else the lines of standard input, as one batch."""
    check_strategy_options(options)
    generation = generation_config(options)
    runs, questions = runs_and_questions(options)
    for number, question in enumerate(questions, 1):
        check_utf8(_("text {number}", number=number), question)
    bot, fallback = open_ensemble(runs, options) if len(runs) > 1 else open_run(options, generation)
    tell_unfinished(*runs)
    typed = bool(questions)
    questions = questions or list(read_lines(sys.stdin))
    if generation and generation.num_return > 1:
        answer_lists = bot.candidates(questions, generation)
    else:
        answers = bot.answers(questions, fallback, options.answer_by, generation)
        answer_lists = [[answer] for answer in answers]
    interactive = typed and not (options.json or fallback)
    for question, pieces, answers in zip(questions, bot.pieces(questions), answer_lists):
        if interactive and (courtesy := courtesy_of(bot, question, options, generation)):
            echo(courtesy.reply)
            for example in courtesy.questions:
                echo(f"  - {example}", file=sys.stderr)
            continue
        print_answers(question, pieces, answers, options, fallback, bot.datastore is not None)
        if interactive and answers[0].unsure:
            echo(doubt(answers[0]), file=sys.stderr)
    sys.stdout.flush()
    return 0


def courtesy_of(bot, question, options, generation):
    """Returns the `Guidance` with the reply to a greeting and the like, as `chat` gives it, or None."""
    from keras_transformer.chat.conversation import guidance

    guide = guidance(bot, question, question, bot.way(options.answer_by, generation=generation), generation)
    return guide if guide and guide.reply else None


def doubt(answer):
    """Returns the message about an `Answer` of low similarity, or one that is empty for want of a similar question."""
    if not answer.sources:
        return _("  Not known: no known question is like this one.")
    nearest = one_line(answer.sources[0].exchange.question)
    return _("  Not sure: the nearest known question is “{question}”.", question=nearest)


def runs_and_questions(options):
    """Returns the runs of the command line, which come first, and the questions.

    Raises:
        InputError: If a word is neither, but probably a misspelled run.
    """
    from keras_transformer.runs.run import Run

    more = list(itertools.takewhile(os.path.exists, options.words))
    questions = options.words[len(more) :]
    for word in questions:
        if len(word.split()) == 1 and (os.sep in word or similar_path(word, Run.exists, CLOSE)):
            raise no_such_run(word)
    return [options.run, *more], questions


def open_run(options, generation):
    """Returns the `Chatbot` of a run and the `Fallback` of the options, or None."""
    from keras_transformer.chat.chatbot import Chatbot

    fallback = requested_fallback(options, generation)
    check_answer_by(options, options.run)
    return Chatbot.load(options.run), fallback


def open_ensemble(runs, options):
    """Returns the `Chatbot` of several runs, and None; raises `InputError` if an option is for one run."""
    for option, value in (("--fallback", options.fallback), ("--refusals", options.refusals), ("--cite", options.cite)):
        if value:
            raise InputError(_("{option} is for one run: leave it out, or name one run", option=option))
    if options.answer_by not in (None, GENERATE):
        raise InputError(_("several runs generate their answers: leave out --answer-by, or name one run"))
    from keras_transformer.chat.chatbot import Chatbot

    return Chatbot.ensemble(runs), None


def print_answers(question, pieces, answers, options, fallback, has_datastore):
    """Prints the answers to a question, or the fallback, as one JSON object or as lines with optional sources."""
    texts = [fallback.apply(one, pieces) if fallback else one.text for one in answers]
    if not options.json:
        for text, answer in zip(texts, answers):
            echo(in_words(text, answer.score, options))
            if options.cite and question.strip():
                echo(*source_lines(answer, has_datastore), sep="\n")
        return
    records = [{**answer.to_dict(), "answer": text} for text, answer in zip(texts, answers)]
    if fallback and fallback.judges(answers[0], pieces):
        score, [record] = fallback.score_of(answers[0]), records
        if fallback.confidence:
            record["confidence"] = round(float(fallback.confidence.of(score, pieces)), 4)
        record["refused"] = bool(fallback.refuses(score, pieces))
    echo(json.dumps({"question": question, "answers": records}, ensure_ascii=False))


def run_tokenize(options):
    """Prints the pieces and token ids of texts."""
    for number, text in enumerate(options.texts, 1):
        check_utf8(_("text {number}", number=number), text)
    from keras_transformer.cli.tokenize import tokenize_texts
    from keras_transformer.runs.run import Run

    tokenize_texts(Run(options.run), options.texts or read_lines(sys.stdin), options.answers, options.json)
    return 0


def run_average(options):
    """Prints the validation score of the best single epoch and that of the average."""
    import_tensorflow_quietly()
    from keras_transformer.data.corpus import Corpus
    from keras_transformer.runs.run import Run
    from keras_transformer.training.checkpoint_averaging import average_epochs

    source = Run(options.run).corpus.get("source", {})
    if options.corpus:
        source = {**source, "corpus": options.corpus}
    if not source.get("corpus"):
        raise InputError(_("{run}: the path of its corpus is not recorded: add --corpus CORPUS", run=options.run))
    average = average_epochs(Corpus.from_source(source), options.run, options.last, options.best, options.keep)
    epochs = ", ".join(map(str, average["epochs"]))
    best, score = average["best"], average["val_bits_per_char"]
    echo(
        _(
            "{score:.3f} validation bits per character: epoch {epoch}",
            score=best["val_bits_per_char"],
            epoch=best["epoch"],
        )
    )
    echo(_("{score:.3f} validation bits per character: the average of epochs {epochs}", score=score, epochs=epochs))
    if options.keep:
        echo(_("Kept in {run}.", run=options.run))
    else:
        echo(_("Nothing is changed; --keep makes it the run's weights."))
    return 0


def run_presets(options):
    """Prints the presets."""
    from keras_transformer.cli.presets import presets_json, presets_table

    echo(presets_json() if options.json else presets_table())
    return 0


def read_lines(stream):
    """Yields the lines of standard input; raises `InputError` for a line that is not UTF-8."""
    for number, line in enumerate(stream.buffer if stream else (), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(_("standard input: line {number} is not UTF-8", number=number)) from error


def show_warning(message, category, filename, lineno, file=None, line=None):
    """Prints a Python warning as one line."""
    echo(printable_line(_("keras-transformer: warning: {message}", message=message)), file=sys.stderr)


def print_failure(reason):
    """Prints why a command failed."""
    echo(printable_line(_("keras-transformer: failed: {reason}", reason=reason)), file=sys.stderr)
