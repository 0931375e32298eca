"""How well does a trained run answer held-out questions, and how many training answers does it reproduce verbatim?

    python -m benchmarks.recall RUN CORPUS

Printed are the results of the best weights and of the last weights, which are the most fitted to the training data if
training had no early stopping.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from keras_transformer import Chatbot, Run, load_pairs, split_pairs
from keras_transformer.text.normalize import normalize
from keras_transformer.training.checkpoint import load_checkpoint, restore
from keras_transformer.training.trainer import compiled_model

HELD_OUT = 10


def single_answers(pairs):
    """Returns the questions that have exactly one answer in the whole corpus, with this answer."""
    answers = pairs["answer"].map(normalize).groupby(pairs["question"]).unique()
    return {question: found[0] for question, found in answers.items() if len(found) == 1}


def last_model(run):
    """Returns the model with the weights of the last step instead of the best ones."""
    model = compiled_model(run, tokens_per_batch=1, steps_per_epoch=10**6)  # The values do not matter: no step is run.
    tensors = load_checkpoint(run)[0]
    restore(model, tensors, "variables")
    return model


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run")
    options.add_argument("corpus")
    options = options.parse_args()
    run, pairs = Run(options.run), load_pairs(options.corpus)
    splits, alone = split_pairs(pairs), single_answers(pairs)
    asked = [question for question in dict.fromkeys(splits["train"]["question"]) if question in alone]
    held_out = splits["test"].drop_duplicates("question").head(HELD_OUT)
    for name, model in (("best", run.load_model()), ("last", last_model(run))):
        bot = Chatbot(model, run.tokenizer, run.config.max_length)
        exact = sum(a == alone[q] for q, a in zip(asked, bot.replies(asked)))
        print(f"{name} weights: {exact:,} of {len(asked):,} training questions with a single answer come back exactly")
        print(f"         ({exact / len(asked):.1%}); the first {HELD_OUT} questions of the test split:")
        for question, answer in zip(held_out["question"], bot.replies(list(held_out["question"]))):
            print(f"  {question}\n    -> {answer}")


if __name__ == "__main__":
    main()
