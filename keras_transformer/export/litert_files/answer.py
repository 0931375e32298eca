"""Answers questions with the model beside this file: a line of standard input in, a line of standard output out.

    pip install ai-edge-litert numpy sentencepiece
    python answer.py < questions.txt > answers.txt

All that the model itself knows are token ids. What makes ids of a question, and text of an answer's ids, is here, to be
used as it is or to be written again in another language. Where there is a retrieval.py, a question may have the answer
of a known one, as it had in the run.
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
except ImportError:  # TensorFlow has the same one.
    from tensorflow.lite.python.interpreter import Interpreter

SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
SEPARATOR = "<sep>"  # The piece between the turns of a conversation.


class Answerer:
    """The model and its tokenizers.

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
        self.model = Interpreter(model_path=str(folder / "model.tflite")).get_signature_runner("serving_default")
        self.retriever = load_retriever(folder, program)

    def answers(self, questions):
        """What is said to many questions, in their order: answers, or the fallback, each with the answer's score."""
        return [self.judged(question, *found) for question, found in zip(questions, self.candidates(questions))]

    def candidates(self, questions):
        """What `candidate` returns for many questions, in their order."""
        return [self.candidate(question) for question in questions]

    def judged(self, question, answer, score):
        """The answer, or the fallback if it is too unlikely or its question cut into too many pieces; and the score."""
        if not self.fallback or not question.strip():
            return answer, score
        pieces = (len(self.ids_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidate(self, question):
        """The answer to a question, whose lines are turns if the model knows several, and its score.

        The score is the summed log-probability of the answer's tokens, in nats, or None if it was retrieved. A blank
        question has ("", 0.0).
        """
        if not question.strip():
            return "", 0.0
        if self.retriever and (match := self.retriever.answer(question)):
            return match[0], None
        ids = self.ids_of(question)
        found = self.model(ids=np.array([ids + [0] * (self.max_length - len(ids))], "int32"))
        return self.target_tokenizer.decode(found["ids"][0].tolist()), float(found["scores"][0])

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
