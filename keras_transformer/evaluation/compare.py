"""Comparison of runs on the same questions, with significance tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_transformer.decoding.config import GenerationConfig, Strategy, chosen_generation
from keras_transformer.errors import InputError
from keras_transformer.evaluation.bootstrap import difference
from keras_transformer.evaluation.evaluate import evaluation
from keras_transformer.evaluation.text_metrics import Score
from keras_transformer.language import translate as _

if TYPE_CHECKING:
    import pandas as pd


SAMPLES, SEED = 10, 0
PER_TOKEN = ("loss", "perplexity")  # Not comparable between different tokenizers.


def compare(
    run_dirs: Sequence[str | os.PathLike],
    pairs: pd.DataFrame,
    strategy: Strategy | None = None,
    training_answers: Iterable[str] | None = None,
    answer_by: str | None = None,
    generation: GenerationConfig | None = None,
) -> dict:
    """Evaluates several runs on the same questions, and compares them with the first run, the baseline.

    Loss and perplexity are omitted: they are per token, and runs may have different tokenizers. Bits per character
    measure the same per character, here on the answers that are short enough for all runs.

    Args:
        run_dirs: Two or more run folders; the first is the baseline.
        pairs: DataFrame with the columns "question" and "answer".
        strategy: The decoding strategy, short for `generation=GenerationConfig(strategy)`.
        training_answers: As for `evaluate`, if all runs were trained on the same corpus.
        answer_by: As for `evaluate`.
        generation: As for `evaluate`.

    Returns:
        A dictionary with these keys. "runs": for each run, a dictionary with its folder ("run"), its "scores" as in
        `evaluate`, the number of its training questions among them ("leaked"), its answering mode ("answer_by"), and,
        for all but the baseline, "differences": for each score that is a sum over questions, its "difference" from the
        baseline, its "interval" (95 %, paired bootstrap resampling) and whether it is "significant" (the interval
        excludes zero). "samples": ten questions, drawn at random and independently of the answers, with their
        "references" and the runs' "answers". "signatures" of sacreBLEU. "questions" and "pairs": their numbers.

    Raises:
        InputError: If there are fewer than two runs, or like `evaluate`.
    """
    if len(run_dirs) < 2:
        raise InputError(_("name two runs or more to compare"))
    generation = chosen_generation(strategy, generation)
    evaluations = [evaluation(run_dir, pairs, training_answers, answer_by, generation) for run_dir in run_dirs]
    all_scores = with_common_answers([comparable(result.scores) for result in evaluations])
    runs = []
    for run_dir, result, scores in zip(run_dirs, evaluations, all_scores):
        values = {name: score.value for name, score in scores.items()} | result.distinct
        runs.append({"run": str(run_dir), "scores": values, "leaked": result.leaked, "answer_by": result.answer_by})
        if result is not evaluations[0]:
            runs[-1]["differences"] = {name: compared(score, all_scores[0][name]) for name, score in scores.items()}
    return {
        "runs": runs,
        "samples": samples(evaluations),
        "signatures": evaluations[0].signatures,
        "questions": len(evaluations[0].references),
        "pairs": len(pairs),
    }


def comparable(scores):
    """Returns the scores that are comparable between tokenizers."""
    return {name: score for name, score in scores.items() if name not in PER_TOKEN}


def with_common_answers(all_scores):
    """Returns the `Score`s of all runs, with bits per character restricted to the answers that all runs can read.

    Answers that exceed a run's maximum length are excluded from its bits per character, and this depends on the
    tokenizer. Without common questions, bits per character are dropped.
    """
    bits = [scores["bits_per_char"] for scores in all_scores]
    characters = np.stack([score.addends[:, 1] for score in bits])
    common = (characters == characters[0]).all(axis=0) & (characters[0] > 0)
    if not common.any():
        return [{name: score for name, score in scores.items() if name != "bits_per_char"} for scores in all_scores]
    common_bits = [Score(score.addends[common], score.of) for score in bits]
    return [scores | {"bits_per_char": score} for scores, score in zip(all_scores, common_bits)]


def compared(score, baseline):
    """Returns a difference with its interval and significance, as a dictionary."""
    value, (low, high) = difference(score, baseline)
    return {"difference": value, "interval": (low, high), "significant": not low <= 0 <= high}


def samples(evaluations):
    """Returns questions drawn at random, in corpus order, with the reference answers and the answers of all runs."""
    references = evaluations[0].references
    rows = np.random.default_rng(SEED).permutation(len(references))[:SAMPLES]
    questions = list(references)
    return [
        {
            "question": questions[row],
            "references": list(dict.fromkeys(references[questions[row]])),
            "answers": [result.answers[row] for result in evaluations],
        }
        for row in sorted(rows.tolist())
    ]
