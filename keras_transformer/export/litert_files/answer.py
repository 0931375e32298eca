"""Answers questions with the LiteRT model in this folder: one line of standard input per question, one line of output.

    pip install ai-edge-litert numpy sentencepiece
    python answer.py < questions.txt > answers.txt

The model only handles token ids. This program tokenizes the questions and detokenizes the answers. Use it as it is, or
port it to another language. If the folder has a retrieval.py, answers of known questions may be retrieved, as in the
exported run.
"""

import json
import pathlib
import re
import runpy
import sys
import unicodedata

import numpy as np
from sentencepiece import SentencePieceProcessor

try:
    from ai_edge_litert.interpreter import Interpreter
except ImportError:  # TensorFlow includes the same interpreter.
    import tensorflow

    Interpreter = tensorflow.lite.Interpreter

SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
SEPARATOR = "<sep>"  # Piece between the turns of a conversation.


class Answerer:
    """The chatbot: model, tokenizers and retrieval.

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
        self.model = Interpreter(model_path=str(folder / "model.tflite")).get_signature_runner("serving_default")
        self.retriever = load_retriever(folder, program)

    def answers(self, questions):
        """Answers a list of questions. Returns pairs of answer and score, with the fallback for low confidence."""
        candidates = self.candidates(questions)
        return [self.apply_fallback(question, *one) for question, one in zip(questions, candidates)]

    def candidates(self, questions):
        """Returns the results of `candidate` for a list of questions."""
        return [self.candidate(question) for question in questions]

    def apply_fallback(self, question, answer, score):
        """Returns the answer and its score, with the fallback for a low score or a question of too many pieces."""
        if not self.fallback or not question.strip():
            return answer, score
        pieces = (len(self.ids_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidate(self, question):
        """Returns the answer to a question and its score. For a multi-turn model, each line is a turn.

        The score is the summed log-probability of the answer's tokens, in nats, or None if it was retrieved. A blank
        question gives ("", 0.0).
        """
        if not question.strip():
            return "", 0.0
        if self.retriever and (match := self.retriever.answer(question)):
            return match[0], None
        ids = self.ids_of(question)
        outputs = self.model(ids=np.array([ids + [0] * (self.max_length - len(ids))], "int32"))
        return self.target_tokenizer.decode(outputs["ids"][0].tolist()), float(outputs["scores"][0])

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
