"""Runs beside each other: the same questions to all of them, and whether what they differ by may be chance."""

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.evaluation.bootstrap import difference
from keras_transformer.evaluation.evaluate import evaluation
from keras_transformer.evaluation.text_metrics import Score

SAMPLES, SEED = 10, 0
A_TOKEN = ("loss", "perplexity")  # Nobody can compare these where runs cut the answers into other tokens.


def compare(run_dirs, pairs, strategy=None, training_answers=None, answer_by=None, **settings):
    """Asks several runs the same questions, and compares what they answer with what the first one does.

    Loss and perplexity are left out, being those of a token: runs with other tokenizers have other tokens. Bits per
    character say the same of characters, here of those answers that all runs are able to read.

    Args:
        run_dirs: The run folders, two or more; the first is what the others are compared with.
        pairs: DataFrame with the columns "question" and "answer".
        strategy: How answers are chosen, as for `generate`.
        training_answers: As for `evaluate`, if all runs were trained on the same.
        answer_by: As for `evaluate`.
        **settings: Of `generate`, such as `max_length`.

    Returns:
        A dictionary: "runs", for each a dictionary of its folder ("run"), its "scores" as `evaluate` has them, how many
        of the questions it has "met" in training, how it answered ("answer_by"), and, of all but the first,
        "differences": for each score that adds up over the questions "difference" (its own less the first run's),
        "interval" (95 %, by paired bootstrap resampling) and "significant" (whether the interval leaves out zero);
        "samples", ten questions drawn at random, the same whatever the runs say, with the "references" and the runs'
        "answers"; "signatures" of sacreBLEU; the numbers of "questions" and "pairs".

    Raises:
        InputError: If there are fewer than two runs, or like `evaluate`.
    """
    if len(run_dirs) < 2:
        raise InputError("name two runs or more to compare")
    found = [evaluation(run_dir, pairs, strategy, training_answers, answer_by, **settings) for run_dir in run_dirs]
    of_all = with_common_answers([comparable(one.scores) for one in found])
    runs = []
    for run_dir, one, scores in zip(run_dirs, found, of_all):
        values = {name: score.value for name, score in scores.items()} | one.distinct
        runs.append({"run": str(run_dir), "scores": values, "met": one.met, "answer_by": one.answer_by})
        if one is not found[0]:
            runs[-1]["differences"] = {name: compared(score, of_all[0][name]) for name, score in scores.items()}
    return {
        "runs": runs,
        "samples": samples(found),
        "signatures": found[0].signatures,
        "questions": len(found[0].asked),
        "pairs": len(pairs),
    }


def comparable(scores):
    """Those that compare whatever the tokens are."""
    return {name: score for name, score in scores.items() if name not in A_TOKEN}


def with_common_answers(of_all):
    """The `Score`s of all runs, with bits per character of those questions alone whose answers all of them could read.

    An answer that is longer than a run reads is left out of its bits per character, and what is long for one tokenizer
    may be short for another. Without any question in common there are no such bits.
    """
    bits = [scores["bits_per_char"] for scores in of_all]
    characters = np.stack([score.addends[:, 1] for score in bits])
    common = (characters == characters[0]).all(axis=0) & (characters[0] > 0)
    if not common.any():
        return [{name: score for name, score in scores.items() if name != "bits_per_char"} for scores in of_all]
    return [scores | {"bits_per_char": Score(one.addends[common], one.of)} for scores, one in zip(of_all, bits)]


def compared(score, baseline):
    """What one difference is, a dictionary."""
    value, (low, high) = difference(score, baseline)
    return {"difference": value, "interval": (low, high), "significant": not low <= 0 <= high}


def samples(found):
    """Questions drawn at random, in their order, with the answers of the corpus and of all runs."""
    asked = found[0].asked
    drawn = np.random.default_rng(SEED).permutation(len(asked))[:SAMPLES]
    questions = list(asked)
    return [
        {
            "question": questions[row],
            "references": list(dict.fromkeys(asked[questions[row]])),
            "answers": [one.answers[row] for one in found],
        }
        for row in sorted(drawn.tolist())
    ]
