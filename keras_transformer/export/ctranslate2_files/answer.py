"""Answers with the CTranslate2 model beside this file, as the run that it was exported from does.

    python answer.py < questions.txt        # a question a line in, an answer a line out

It needs `pip install ctranslate2 sentencepiece numpy` and nothing else; beside a tokenizer.subwords,
tensorflow-datasets and tensorflow, which read such files.
"""

import json
import pathlib
import runpy
import sys
import unicodedata

import ctranslate2
import sentencepiece

BATCH = 64  # Questions that are answered side by side.


class Bot:
    """The model of a folder, asked in text.

    Args:
        folder: The folder.
        program: The file of `Retriever`; None for the folder's own retrieval.py.
    """

    def __init__(self, folder, program=None):
        folder = pathlib.Path(folder)
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        self.max_length, self.turns = settings["max_length"], settings["turns"]
        self.fallback = settings.get("fallback")
        self.tokenizer = load_tokenizer(folder, "tokenizer")
        self.target_tokenizer = load_tokenizer(folder, "target_tokenizer") or self.tokenizer
        self.translator = ctranslate2.Translator(str(folder))
        self.retriever = load_retriever(folder, program)

    def replies(self, questions, **settings):
        """The answers alone that `answers` returns."""
        return [answer for answer, _ in self.answers(questions, **settings)]

    def answers(self, questions, **settings):
        """What `candidates` returns, with the fallback, if there is one, in place of answers that it is not sure of.

        That is told of the likeliest tokens alone: with other settings nothing is replaced.
        """
        found = self.candidates(questions, **settings)
        if settings or not self.fallback:
            return found
        return [self.judged(question, *one) for question, one in zip(questions, found)]

    def judged(self, question, answer, score):
        """The answer, or the fallback if it is too unlikely or its question cut into too many pieces; and the score."""
        if not question.strip():
            return answer, score
        pieces = (len(self.tokens_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidates(self, questions, **settings):
        """The answers to many questions, in their order, with their scores.

        Args:
            questions: Texts; of a model that reads several turns, the lines of one are its turns.
            **settings: Of CTranslate2's `translate_batch`, such as `beam_size`; by default the likeliest token is
                taken at every step.

        Returns:
            Pairs of an answer and the summed log-probability of its tokens, in nats, which CTranslate2 divides by their
            number to the power of `length_penalty`, 0 by default. A blank question has ("", 0.0). Without settings, an
            answer may be that of a known question, which has None for a score.
        """
        found = [self.retrieved(question, settings) if question.strip() else ("", 0.0) for question in questions]
        rest = [i for i, pair in enumerate(found) if pair is None]
        for i, pair in zip(rest, self.generated([questions[i] for i in rest], **settings)):
            found[i] = pair
        return found

    def retrieved(self, question, settings=()):
        """The answer of a known question, with None for a score; None where none is near enough, or with settings."""
        match = None if settings or not self.retriever else self.retriever.answer(question)
        return match and (match[0], None)

    def generated(self, questions, **settings):
        """The same pairs for questions that are not blank, all of them generated."""
        rows = [self.tokens_of(question) for question in questions]
        settings = {"beam_size": 1, "length_penalty": 0, "max_batch_size": BATCH, **settings}
        results = self.translator.translate_batch(
            rows, max_input_length=0, max_decoding_length=self.max_length - 1, min_decoding_length=0,
            return_scores=True, **settings,
        )  # fmt: skip
        return [(self.target_tokenizer.decode(result.hypotheses[0]), result.scores[0]) for result in results]

    def tokens_of(self, question):
        """What the encoder reads: start, pieces, end; of a longer question as much as it ever read in training."""
        tokenizer = self.tokenizer
        said = [question] if self.turns == 1 else [turn for turn in question.split("\n") if turn.strip()]
        rows = [tokenizer.encode(turn) for turn in said[-self.turns :]]
        while len(rows) > 1 and sum(map(len, rows)) + len(rows) + 1 > self.max_length:
            del rows[0]  # The earliest turn.
        ids = [i for row in rows for i in (tokenizer.separator_id, *row)][1:]
        ids = [tokenizer.start_id, *ids[: self.max_length - 2], tokenizer.end_id]
        return tokenizer.tokens(ids)


class SentencePieces:
    """A SentencePiece model; CTranslate2 knows its ids by their pieces.

    Args:
        path: Its file.
    """

    def __init__(self, path):
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.start_id, self.end_id = self.pieces.bos_id(), self.pieces.eos_id()
        self.separator_id = self.pieces.piece_to_id("<sep>")

    def encode(self, text):
        """The ids of a text, its characters composed (NFC) and its runs of white space one space."""
        return self.pieces.encode(" ".join(unicodedata.normalize("NFC", text).split()))

    def tokens(self, ids):
        """CTranslate2's names of ids."""
        return self.pieces.id_to_piece(ids)  # Not those that a text is cut into, which show what is unknown as it is.

    def decode(self, tokens):
        """The text of such names."""
        return self.pieces.decode(tokens)


class Subwords:
    """A vocabulary of tensorflow-datasets' `SubwordTextEncoder`; CTranslate2 knows its ids as numerals.

    Args:
        path: Its file.
    """

    separator_id = None

    def __init__(self, path):
        import tensorflow_datasets

        self.encoder = tensorflow_datasets.deprecated.text.SubwordTextEncoder.load_from_file(str(path.with_suffix("")))
        self.start_id, self.end_id = self.encoder.vocab_size, self.encoder.vocab_size + 1

    def encode(self, text):
        """The ids of a text, taken as it is."""
        return self.encoder.encode(text)

    def tokens(self, ids):
        """CTranslate2's names of ids."""
        return [str(i) for i in ids]

    def decode(self, tokens):
        """The text of such names."""
        return self.encoder.decode([i for i in map(int, tokens) if 0 < i < self.start_id])


def load_tokenizer(folder, name):
    """The tokenizer of that name in a folder; None if there is none."""
    for path, kind in ((folder / f"{name}.model", SentencePieces), (folder / f"{name}.subwords", Subwords)):
        if path.is_file():
            return kind(path)
    return None


def load_retriever(folder, program=None):
    """What finds known questions and their answers; None where every answer is generated."""
    program = program or folder / "retrieval.py"
    return runpy.run_path(str(program))["Retriever"](folder) if (folder / "retrieval.npz").exists() else None


def main():
    """Answers the lines of standard input."""
    sys.stdin.reconfigure(encoding="utf-8-sig")
    sys.stdout.reconfigure(encoding="utf-8")
    questions = [line.rstrip("\n") for line in sys.stdin]
    for answer in Bot(pathlib.Path(__file__).parent).replies(questions):
        print(answer)


if __name__ == "__main__":
    main()
