"""Answers questions with the ONNX models in this folder: one line of standard input per question, one line of output.

    pip install onnxruntime numpy sentencepiece
    python answer.py < questions.txt > answers.txt

The models only handle token ids. This program tokenizes the questions, runs greedy decoding and detokenizes the
answers. Use it as it is, or port it to another language. If the folder has a retrieval.py, answers of known questions
may be retrieved, as in the exported run.
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
SEPARATOR = "<sep>"  # Piece between the turns of a conversation.
BATCH = 64  # Number of questions per batch.


class Answerer:
    """The chatbot: models, tokenizers and retrieval.

    Args:
        folder: The exported folder, a `pathlib.Path`.
        program: File with the `Retriever` class. None for retrieval.py in the folder.
    """

    def __init__(self, folder, program=None):
        settings = json.loads((folder / "settings.json").read_text("utf-8"))
        self.max_length, self.turns = settings["max_length"], settings["turns"]
        self.fallback = settings.get("fallback")
        self.tokenizer = SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
        own = folder / "target_tokenizer.model"
        self.target_tokenizer = SentencePieceProcessor(model_file=str(own)) if own.exists() else self.tokenizer
        options = SessionOptions()
        # Spinning threads occupy the cores while they wait, which makes answers several times slower on a busy machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.retriever = load_retriever(folder, program)
        names = "encoder.onnx", "decoder.onnx"
        self.encoder, self.decoder = (InferenceSession(folder / name, options) for name in names)

    def answers(self, questions):
        """Answers a list of questions. Returns pairs of answer and score, with the fallback for low confidence."""
        candidates = self.candidates(questions)
        return [self.apply_fallback(question, *one) for question, one in zip(questions, candidates)]

    def apply_fallback(self, question, answer, score):
        """Returns the answer and its score, with the fallback for a low score or a question of too many pieces."""
        if not self.fallback or not question.strip():
            return answer, score
        pieces = (len(self.ids_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidates(self, questions):
        """Answers a list of questions without the fallback.

        Args:
            questions: Texts. For a multi-turn model, each line of a text is a turn.

        Returns:
            A list of pairs of answer and score. The score is the summed log-probability of the answer's tokens, in
            nats, or None if it was retrieved. A blank question gives ("", 0.0).
        """
        results = [self.retrieved(question) if question.strip() else ("", 0.0) for question in questions]
        rows = {i: self.ids_of(questions[i]) for i, pair in enumerate(results) if pair is None}
        order = sorted(rows, key=lambda i: len(rows[i]))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            ids, scores = self.search(run(self.encoder, {"ids": padded([rows[i] for i in batch])}))
            for i, answer, score in zip(batch, self.target_tokenizer.decode(ids.tolist()), scores.tolist()):
                results[i] = answer, score
        return results

    def retrieved(self, question):
        """Returns a retrieved answer with the score None, or None if no known question is similar enough."""
        match = self.retriever and self.retriever.answer(question)
        return match and (match[0], None)

    def search(self, cache):
        """Runs greedy decoding.

        Args:
            cache: Outputs of the encoder, arrays by name.

        Returns:
            A tuple of the ids of the answers including the end token, padded with 0, int32 (batch, max_length - 1), and
            scores, float32 (batch,).
        """
        tokens, count = self.target_tokenizer, len(cache["padding_mask"])
        ids, scores = np.zeros((count, self.max_length - 1), "int32"), np.zeros(count, "float32")
        last, ended = np.full(count, tokens.bos_id(), "int32"), np.zeros(count, bool)
        for index in range(self.max_length - 1):
            outputs = run(self.decoder, {"ids": last, "index": np.array(index, "int32"), **cache})
            log_probabilities = log_softmax(outputs.pop("logits"))
            likeliest = 1 + log_probabilities[:, 1:].argmax(axis=1)  # Excludes padding, which is 0.
            scores += np.where(ended, 0, log_probabilities[np.arange(count), likeliest])
            last = np.where(ended, 0, likeliest).astype("int32")
            ids[:, index] = last
            ended |= last == tokens.eos_id()
            if ended.all():
                break
            cache = {**cache, **{name.removeprefix("next."): x for name, x in outputs.items()}}
        return ids, scores

    def ids_of(self, question):
        """Returns the model input: start, pieces, end. Long questions are truncated."""
        turns = [self.tokenizer.encode(normalize(turn)) for turn in self.turns_of(question)]
        while len(turns) > 1 and sum(map(len, turns)) + len(turns) + 1 > self.max_length:
            turns = turns[1:]
        separator = self.tokenizer.piece_to_id(SEPARATOR)
        pieces = [i for turn in turns for i in (separator, *turn)][1:]
        return [self.tokenizer.bos_id(), *pieces[: self.max_length - 2], self.tokenizer.eos_id()]

    def turns_of(self, question):
        """Returns the last turns of a conversation, at most as many as the model was trained with."""
        if self.turns == 1:
            return [question]
        return [turn for turn in question.split("\n") if turn.strip()][-self.turns :]


def load_retriever(folder, program=None):
    """Loads the `Retriever` of the folder. Returns None if all answers are generated."""
    program = program or folder / "retrieval.py"
    return runpy.run_path(str(program))["Retriever"](folder) if (folder / "retrieval.npz").exists() else None


def run(model, inputs):
    """Runs a model on arrays by name, and returns its outputs by name."""
    return dict(zip([output.name for output in model.get_outputs()], model.run(None, inputs)))


def log_softmax(logits):
    """Converts logits (batch, vocab_size) to log-probabilities."""
    logits = logits - logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def padded(rows):
    """Pads rows of ids with 0 to the length of the longest, and returns an array."""
    width = max(map(len, rows))
    return np.array([row + [0] * (width - len(row)) for row in rows], "int32")


def normalize(text):
    """Applies Unicode NFC, collapses white space into single spaces and strips the ends."""
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")


def main():
    """Answers each line of standard input."""
    sys.stdin.reconfigure(encoding="utf-8-sig")
    sys.stdout.reconfigure(encoding="utf-8")
    answerer = Answerer(pathlib.Path(__file__).parent)
    for line in sys.stdin:
        [(answer, _)] = answerer.answers([line])
        print(answer, flush=True)


if __name__ == "__main__":
    main()
