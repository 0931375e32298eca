"""The command `evaluate`: how good a run is on a part of a corpus, as a table or as JSON."""

import json
import sys

from keras_transformer.apps.command import add_command, import_tensorflow_quietly
from keras_transformer.apps.options import DEFAULT_ENCODING, add_source_options
from keras_transformer.apps.strategy import add_strategy_options, check_strategy_options, strategy_settings
from keras_transformer.data.split import PARTS
from keras_transformer.errors import InputError

ROWS = {
    "bits_per_char": ("{:.3f}", "bits per character of the corpus's answers; fewer are better"),
    "loss": ("{:.3f}", "the same in nats per token"),
    "perplexity": ("{:.2f}", "the same as the number of equally likely tokens"),
    "chrf": ("{:.1f}", "character n-grams that answers and corpus share, 0 to 100"),
    "bleu": ("{:.1f}", "runs of up to four characters (tok:char) or words (tok:13a), 0 to 100"),
    "exact_match": ("{:.1%}", "answers that stand so in the corpus"),
    "word_error_rate": ("{:.1%}", "words to change to reach the corpus's answer"),
    "copied": ("{:.1%}", "answers that stand so in the training part"),
    "distinct_1": ("{:.1%}", "words that are different ones"),
    "distinct_2": ("{:.1%}", "pairs of words that are different ones"),
    "answer_length": ("{:.1f}", "characters of an answer"),
}
"""How each score is printed, and what it says."""


def add_evaluate(commands):
    """The grammar of `evaluate`."""
    evaluate = add_command(
        commands, "evaluate", run_evaluate, "measure a run on questions that it never met",
        "keras-transformer evaluate runs/first pairs.csv",
    )  # fmt: skip
    evaluate.add_argument("run", metavar="RUN", help="folder of the run")
    evaluate.add_argument("corpus", metavar="CORPUS", nargs="+", help="a corpus, named as for `train`")
    evaluate.add_argument(
        "--split", default="test", metavar="|".join(PARTS), help="part of the corpus to ask (default: %(default)s)"
    )
    add_source_options(evaluate)
    evaluate.add_argument("--json", action="store_true", help="one JSON object, with the intervals")
    add_strategy_options(evaluate)


def run_evaluate(options):
    """Prints the scores."""
    check_options(options)
    from keras_transformer.evaluation.scores import check_packages

    check_packages()
    import_tensorflow_quietly()
    from keras_transformer.evaluation.evaluate import evaluate
    from keras_transformer.run import Run

    settings = strategy_settings(options)
    pairs, training_answers = read_part(options, Run(options.run))
    print(f"Evaluating on {len(pairs):,} pairs …", file=sys.stderr, flush=True)
    found = evaluate(options.run, pairs, training_answers=training_answers, **settings)
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    print(
        f"{options.run}, {options.split} part: {found['questions']:,} questions, {found['pairs']:,} answers to them\n"
    )
    print("\n".join(table(found)))
    return 0


def check_options(options):
    """Raises `InputError` for what the grammar lets through."""
    if options.split not in PARTS:
        raise InputError(f"--split: there is no part {options.split!r}, but {', '.join(PARTS)}")
    if options.n_best is not None:
        raise InputError("--n-best: one answer to each question is evaluated, the best")
    check_strategy_options(options)


def read_part(options, run):
    """The pairs to ask, and the answers of the training part if the corpus is the run's own, else None."""
    import pandas

    corpus, turns = corpus_of(options, run), run.config.turns
    own = corpus.fingerprint(turns) == run.corpus["fingerprint"]
    asked, training_answers = [], set()
    for parts in corpus.parts(turns):
        if options.split in parts:
            asked.append(parts[options.split])
        if own and "train" in parts:
            training_answers.update(parts["train"]["answer"])
    pairs = pandas.concat(asked, ignore_index=True) if asked else ()
    if not len(pairs):
        raise InputError(f"{' '.join(options.corpus)}: its {options.split} part holds no pair: name another by --split")
    return pairs, training_answers if own else None


def corpus_of(options, run):
    """The corpus that is named.

    If it is the run's own and was trained with a validation of its own, it is parted as it was in training: what would
    be a test otherwise was trained on.
    """
    from keras_transformer.data.parts import Corpus
    from keras_transformer.training.trainer import absolute

    source = run.corpus.get("source", {})
    own = absolute(options.corpus) == source.get("corpus")
    validation = source.get("validation") if own else None
    return Corpus(options.corpus, options.question, options.answer, options.encoding or DEFAULT_ENCODING, validation)


def table(found):
    """The lines of a table for people."""
    rows = [("", "", "95 % interval", "")]
    for name, (form, about) in ROWS.items():
        if found[name] is not None:
            bounds = found["intervals"].get(name, ())
            rows.append((name, form.format(found[name]), " to ".join(map(form.format, bounds)), about))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for name, value, bounds, about in rows:
        yield f"{name:<{widths[0]}}  {value:>{widths[1]}}  {bounds:<{widths[2]}}  {about}".rstrip()
    yield ""
    for name, signature in found["signatures"].items():
        yield f"{name}: {signature}"
