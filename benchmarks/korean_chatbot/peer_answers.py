"""Trains a peer by its own recipe and asks it questions; a separate program for the Python interpreter of the peers.

    python peer_answers.py tutorial|torch --peers FOLDER --corpus CSV --asked FILE --output FILE --kept FOLDER

It imports `common` and the peer's script from the folder of the peers, and nothing of our package. Model, loss,
schedule and batches are those of the peer. Training stops early if validation bits per character have not improved for
`PATIENCE` epochs, and the weights of the best epoch are used. They are kept, so that another split needs no training.
Answers use greedy decoding without a cache, as in the tutorial, in batches.
"""

import argparse
import importlib
import json
import math
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

PATIENCE = 3
MOST_TOKENS = 40  # Maximum number of tokens of an answer.
BATCH = 128  # Questions per batch.
MODEL, SCORES = "tokenizer.model", "scores.json"


class Tutorial:
    """The tutorial: a Keras model with all texts padded to one length.

    Args:
        script: The module of the peer's script.
        common: The module that the peers share.
        seed: Random seed of weights, dropout and order.
    """

    file = "best.weights.h5"

    def __init__(self, script, common, seed):
        import keras

        keras.utils.set_random_seed(seed)
        self.script, self.common, self.seed = script, common, seed
        self.model = script.model()
        self.model.compile(keras.optimizers.Adam(script.Warmup(script.D), 0.9, 0.98, 1e-9), loss=script.loss)
        self.data = None

    def fit_epoch(self, questions, answers):
        """Trains for one epoch on lists of token ids."""
        if self.data is None:
            self.data = self._batches(self._padded(questions), self._padded(answers))
        self.model.fit(self.data, epochs=1, verbose=0)

    def log_probabilities(self, questions, answers):
        """Returns the log-probabilities of the token after each token of the answers: (batch, length, vocab_size)."""
        import tensorflow as tf

        return tf.nn.log_softmax(self._logits(questions, answers)).numpy()

    def last_logits(self, questions, answers):
        """Returns the logits of the next token after the last token of each answer: (batch, vocab_size)."""
        return self._logits(questions, answers)[:, -1].numpy()

    def weights(self):
        """Returns a copy of the weights."""
        return self.model.get_weights()

    def restore(self, weights):
        """Sets the weights to a copy from `weights`."""
        self.model.set_weights(weights)

    def save(self, path):
        """Saves the weights to a file."""
        self.model.save_weights(path)

    def load(self, path):
        """Loads the weights from a file."""
        self.model.load_weights(path)

    def _logits(self, questions, answers):
        return self.model([self._padded(questions), answers], training=False)

    def _batches(self, questions, answers):
        import tensorflow as tf

        inputs = {"inputs": questions, "dec_inputs": answers[:, :-1]}
        data = tf.data.Dataset.from_tensor_slices((inputs, answers[:, 1:])).cache().shuffle(20000, self.seed)
        return data.batch(self.script.BATCH, drop_remainder=True).prefetch(-1)

    def _padded(self, rows):
        import keras

        width = self.script.PAD_TO
        return keras.utils.pad_sequences(rows, maxlen=width, padding="post", truncating="post")


class Torch:
    """PyTorch's `nn.Transformer`, in batches of similar lengths; the arguments are those of `Tutorial`."""

    file = "best.pt"
    batch = 64

    def __init__(self, script, common, seed):
        import torch

        torch.manual_seed(seed)
        self.torch, self.script, self.random, self.step = torch, script, np.random.default_rng(seed), 0
        self.model = script.Model()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3, (0.9, 0.98), 1e-9)

    def fit_epoch(self, questions, answers):
        """Trains for one epoch on lists of token ids."""
        self.model.train()
        for x, y, targets in self.script.batches(questions, answers, self.batch, self.random):
            self.step += 1
            for group in self.optimizer.param_groups:
                group["lr"] = self.script.D**-0.5 * min(self.step**-0.5, self.step * 4000**-1.5)
            logits = self.model(x, y).flatten(0, 1)
            loss = self.torch.nn.functional.cross_entropy(logits, targets.flatten(), ignore_index=0)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def log_probabilities(self, questions, answers):
        """Returns the log-probabilities of the token after each token of the answers: (batch, length, vocab_size)."""
        return self.torch.log_softmax(self._logits(questions, answers), -1).numpy()

    def last_logits(self, questions, answers):
        """Returns the logits of the next token after the last token of each answer: (batch, vocab_size)."""
        return self._logits(questions, answers)[:, -1].numpy()

    def weights(self):
        """Returns a copy of the weights."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def restore(self, weights):
        """Sets the weights to a copy from `weights`."""
        self.model.load_state_dict(weights)

    def save(self, path):
        """Saves the weights to a file."""
        self.torch.save(self.model.state_dict(), path)

    def load(self, path):
        """Loads the weights from a file."""
        self.model.load_state_dict(self.torch.load(path))

    def _logits(self, questions, answers):
        self.model.eval()
        with self.torch.no_grad():
            return self.model(self.torch.tensor(padded(questions)), self.torch.tensor(answers))


PEERS = {"tutorial": (Tutorial, "tutorial_train"), "torch": (Torch, "torch_train")}


def padded(rows):
    """Returns lists of ids as an array, padded with 0 to the longest."""
    width = max(map(len, rows))
    return np.array([row + [0] * (width - len(row)) for row in rows], "int64")


def answer_bits(peer, questions, answers):
    """Returns the negative log2-likelihood of each answer, summed over its tokens after the first, with the end token.

    Args:
        peer: A `Tutorial` or `Torch`.
        questions: Lists of token ids, including start and end.
        answers: Lists of token ids, including start and end.
    """
    bits = []
    for first in range(0, len(answers), BATCH):
        ids = padded(answers[first : first + BATCH])
        found = peer.log_probabilities(questions[first : first + BATCH], ids[:, :-1])
        targets = ids[:, 1:]
        chosen = np.take_along_axis(found, targets[..., None], axis=-1)[..., 0]
        bits += (-np.where(targets != 0, chosen, 0).sum(axis=1, dtype="float64") / math.log(2)).tolist()
    return bits


def greedy(peer, questions, start, end, pieces):
    """Returns answers by greedy decoding, lists of ids without start and end, of at most `MOST_TOKENS` tokens.

    Args:
        peer: A `Tutorial` or `Torch`.
        questions: Lists of token ids.
        start: Token that starts an answer.
        end: Token that ends an answer.
        pieces: Vocabulary size of the tokenizer. On a small corpus, it is less than the number of the peer's logits.
    """
    found = []
    for first in range(0, len(questions), BATCH):
        batch = questions[first : first + BATCH]
        ids = np.full((len(batch), 1), start, "int64")
        while ids.shape[1] <= MOST_TOKENS and not (ids == end).any(axis=1).all():
            following = peer.last_logits(batch, ids)[:, :pieces].argmax(axis=-1)
            ids = np.concatenate([ids, following[:, None]], axis=1)
        rows = (row[1:] for row in ids.tolist())
        found += [row[: row.index(end)] if end in row else row for row in rows]
    return found


def train(peer, training, validation, characters, most_epochs):
    """Trains with early stopping, and restores the weights of the best epoch.

    Args:
        peer: A `Tutorial` or `Torch`.
        training: Questions and answers, two lists of lists of token ids.
        validation: Questions and answers, two lists of lists of token ids.
        characters: Number of characters of the validation answers.
        most_epochs: Maximum number of epochs.

    Returns:
        Validation bits per character after each epoch, a list.
    """
    scores, best = [], None
    for epoch in range(most_epochs):
        peer.fit_epoch(*training)
        scores.append(sum(answer_bits(peer, *validation)) / characters)
        print(json.dumps({"epoch": epoch + 1, "bits_per_char": scores[-1]}), flush=True)
        if scores[-1] == min(scores):
            best = peer.weights()
        elif epoch - scores.index(min(scores)) >= PATIENCE:
            break
    peer.restore(best)
    return scores


def trained(peer, common, options):
    """Trains the peer, or loads its weights if it has been trained before. Returns its tokenizer."""
    import sentencepiece

    kept = pathlib.Path(options.kept)
    if kept.exists():
        peer.load(kept / peer.file)
        return sentencepiece.SentencePieceProcessor(model_file=str(kept / MODEL))
    (questions, answers), (held_out, references) = common.load(options.corpus)
    tokenizer = common.tokenizer(questions + answers)
    training, validation = (
        [common.encode(tokenizer, texts) for texts in part] for part in ((questions, answers), (held_out, references))
    )
    scores = train(peer, training, validation, sum(map(len, references)), options.epochs)
    beside = kept.with_name(f"{kept.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    (beside / MODEL).write_bytes(tokenizer.serialized_model_proto())
    (beside / SCORES).write_text(json.dumps(scores), "utf-8")
    peer.save(beside / peer.file)
    beside.rename(kept)
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--peers", required=True, metavar="FOLDER", help="folder of the peers' scripts")
    parser.add_argument("--corpus", required=True, metavar="CSV", help="CSV file with the columns Q and A")
    parser.add_argument("--asked", required=True, metavar="FILE", help='JSON lines: {"question": …, "references": […]}')
    parser.add_argument("--output", required=True, metavar="FILE", help="JSON lines file for the answers")
    parser.add_argument("--kept", required=True, metavar="FOLDER", help="folder for trained weights")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--epochs", type=int, default=50, metavar="N", help="maximum number of epochs (default: 50)")
    options = parser.parse_args()
    sys.path.insert(0, options.peers)
    common, (kind, script) = importlib.import_module("common"), PEERS[options.peer]
    peer = kind(importlib.import_module(script), common, options.seed)
    tokenizer = trained(peer, common, options)
    lines = pathlib.Path(options.asked).read_text("utf-8").splitlines()
    with open(options.output, "w", encoding="utf-8") as output:
        for row in answered(peer, tokenizer, common, list(map(json.loads, lines))):
            output.write(json.dumps(row, ensure_ascii=False) + "\n")


def answered(peer, tokenizer, common, asked):
    """Yields a dictionary for each question: itself, its answer, the bits and the characters of its references."""
    questions = common.encode(tokenizer, [row["question"] for row in asked])
    texts = tokenizer.decode(greedy(peer, questions, common.BOS, common.EOS, tokenizer.get_piece_size()))
    pairs = [(index, text) for index, row in enumerate(asked) for text in row["references"]]
    references = common.encode(tokenizer, [text for _, text in pairs])
    bits = answer_bits(peer, [questions[index] for index, _ in pairs], references)
    sums = np.bincount([index for index, _ in pairs], bits, len(asked)).tolist()
    for row, text, of_all in zip(asked, texts, sums):
        characters = sum(map(len, row["references"]))
        yield {"question": row["question"], "answer": text, "bits": of_all, "characters": characters}


if __name__ == "__main__":
    main()
