"""Answers questions with the models beside this file: a line of standard input in, a line of standard output out.

    pip install onnxruntime numpy sentencepiece
    python answer.py < questions.txt > answers.txt

All that the models themselves know are token ids. What makes ids of a question, the choice of an answer's tokens, and
what makes text of them is here, to be used as it is or to be written again in another language. Where there is a
retrieval.py, a question may have the answer of a known one, as it had in the run.
"""

import json
import pathlib
import re
import runpy
import sys
import unicodedata

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from sentencepiece import SentencePieceProcessor

SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
SEPARATOR = "<sep>"  # The piece between the turns of a conversation.
BATCH = 64  # Questions that are answered side by side.


class Answerer:
    """The models and their tokenizers.

    Args:
        folder: Where their files are, a `pathlib.Path`.
        program: The file of `Retriever`; None for the folder's own retrieval.py.
    """

    def __init__(self, folder, program=None):
        settings = json.loads((folder / "settings.json").read_text("utf-8"))
        self.max_length, self.turns = settings["max_length"], settings["turns"]
        self.fallback = settings.get("fallback")
        self.tokenizer = SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
        own = folder / "target_tokenizer.model"
        self.target_tokenizer = SentencePieceProcessor(model_file=str(own)) if own.exists() else self.tokenizer
        options = SessionOptions()
        # Threads that wait would keep the cores to themselves, for several times slower answers where others work too.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.retriever = load_retriever(folder, program)
        names = "encoder.onnx", "decoder.onnx"
        self.encoder, self.decoder = (InferenceSession(folder / name, options) for name in names)

    def answers(self, questions):
        """What is said to many questions, in their order: answers, or the fallback, each with the answer's score."""
        return [self.judged(question, *found) for question, found in zip(questions, self.candidates(questions))]

    def judged(self, question, answer, score):
        """The answer, or the fallback if it is too unlikely or its question cut into too many pieces; and the score."""
        if not self.fallback or not question.strip():
            return answer, score
        pieces = (len(self.ids_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidates(self, questions):
        """The answers to many questions, in their order, with their scores.

        Args:
            questions: Texts, whose lines are turns if the model knows several.

        Returns:
            Pairs of an answer and its score: the summed log-probability of its tokens, in nats, or None if it was
            retrieved. A blank question has ("", 0.0).
        """
        found = [self.retrieved(question) if question.strip() else ("", 0.0) for question in questions]
        rows = {i: self.ids_of(questions[i]) for i, pair in enumerate(found) if pair is None}
        order = sorted(rows, key=lambda i: len(rows[i]))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            ids, scores = self.search(run(self.encoder, {"ids": padded([rows[i] for i in batch])}))
            for i, answer, score in zip(batch, self.target_tokenizer.decode(ids.tolist()), scores.tolist()):
                found[i] = answer, score
        return found

    def retrieved(self, question):
        """The answer of a known question, with None for a score; None where none is near enough."""
        match = self.retriever and self.retriever.answer(question)
        return match and (match[0], None)

    def search(self, cache):
        """Takes the likeliest token at every step.

        Args:
            cache: What the encoder makes of questions, arrays by name.

        Returns:
            Ids of answers with their ends, then 0, int32 (batch, max_length - 1), and scores, float32 (batch,).
        """
        tokens, count = self.target_tokenizer, len(cache["padding_mask"])
        ids, scores = np.zeros((count, self.max_length - 1), "int32"), np.zeros(count, "float32")
        last, ended = np.full(count, tokens.bos_id(), "int32"), np.zeros(count, bool)
        for index in range(self.max_length - 1):
            made = run(self.decoder, {"ids": last, "index": np.array(index, "int32"), **cache})
            log_probabilities = log_softmax(made.pop("logits"))
            likeliest = 1 + log_probabilities[:, 1:].argmax(axis=1)  # All but padding, which is 0.
            scores += np.where(ended, 0, log_probabilities[np.arange(count), likeliest])
            last = np.where(ended, 0, likeliest).astype("int32")
            ids[:, index] = last
            ended |= last == tokens.eos_id()
            if ended.all():
                break
            cache = {**cache, **{name.removeprefix("next."): x for name, x in made.items()}}
        return ids, scores

    def ids_of(self, question):
        """What the model reads: start, pieces, end, of a long question as many as it has room for."""
        turns = [self.tokenizer.encode(normalize(turn)) for turn in self.turns_of(question)]
        while len(turns) > 1 and sum(map(len, turns)) + len(turns) + 1 > self.max_length:
            turns = turns[1:]
        separator = self.tokenizer.piece_to_id(SEPARATOR)
        pieces = [i for turn in turns for i in (separator, *turn)][1:]
        return [self.tokenizer.bos_id(), *pieces[: self.max_length - 2], self.tokenizer.eos_id()]

    def turns_of(self, question):
        """The last turns of a conversation, as many as the model knows."""
        if self.turns == 1:
            return [question]
        return [turn for turn in question.split("\n") if turn.strip()][-self.turns :]


def load_retriever(folder, program=None):
    """What finds known questions and their answers; None where every answer is generated."""
    program = program or folder / "retrieval.py"
    return runpy.run_path(str(program))["Retriever"](folder) if (folder / "retrieval.npz").exists() else None


def run(model, inputs):
    """What a model makes of arrays by name, likewise."""
    return dict(zip([output.name for output in model.get_outputs()], model.run(None, inputs)))


def log_softmax(logits):
    """Log-probabilities (batch, vocab_size) of logits."""
    logits = logits - logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def padded(rows):
    """Rows of ids filled up with 0 to the longest, an array."""
    width = max(map(len, rows))
    return np.array([row + [0] * (width - len(row)) for row in rows], "int32")


def normalize(text):
    """Composes characters (NFC), turns every run of white space into one space, and strips the ends."""
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")


def main():
    """Answers standard input."""
    sys.stdin.reconfigure(encoding="utf-8-sig")
    sys.stdout.reconfigure(encoding="utf-8")
    answerer = Answerer(pathlib.Path(__file__).parent)
    for line in sys.stdin:
        [(answer, _)] = answerer.answers([line])
        print(answer, flush=True)


if __name__ == "__main__":
    main()
