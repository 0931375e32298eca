"""Answers questions with the CTranslate2 model in this folder, as the exported run does.

    python answer.py < questions.txt        # one question per line in, one answer per line out

Requirements: `pip install ctranslate2 sentencepiece numpy`. If the folder has a tokenizer.subwords file,
tensorflow-datasets and tensorflow are needed as well to read it.
"""

import json
import pathlib
import re
import runpy
import sys
import unicodedata

import ctranslate2
import sentencepiece

BATCH = 64  # Number of questions per batch.


class Bot:
    """The chatbot: model, tokenizers and retrieval.

    Args:
        folder: The exported folder.
        program: File with the `Retriever` class. None for retrieval.py in the folder.
    """

    def __init__(self, folder, program=None):
        folder = pathlib.Path(folder)
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        self.max_length, self.turns = settings["max_length"], settings["turns"]
        self.fallback, self.preprocessing = settings.get("fallback"), settings.get("preprocessing")
        self.tokenizer = load_tokenizer(folder, "tokenizer")
        self.target_tokenizer = load_tokenizer(folder, "target_tokenizer") or self.tokenizer
        self.translator = ctranslate2.Translator(str(folder))
        self.retriever = load_retriever(folder, program)

    def replies(self, questions, **settings):
        """Returns the answers of `answers` without the scores."""
        return [answer for answer, _ in self.answers(questions, **settings)]

    def answers(self, questions, **settings):
        """Returns the results of `candidates`, with low-confidence answers replaced by the fallback, if there is one.

        The confidence is calibrated for greedy decoding, so nothing is replaced if other settings are given.
        """
        results = self.candidates(questions, **settings)
        if settings or not self.fallback:
            return results
        return [self.apply_fallback(question, *one) for question, one in zip(questions, results)]

    def apply_fallback(self, question, answer, score):
        """Returns the answer and its score, with the fallback for a low score or a question of too many pieces."""
        if not question.strip():
            return answer, score
        pieces = (len(self.tokens_of(question)) - 2) / len(question)
        refused = score < self.fallback["least_score"] or pieces > self.fallback["most_pieces"]
        return (self.fallback["text"] if refused else answer), score

    def candidates(self, questions, **settings):
        """Answers a list of questions.

        Args:
            questions: Texts. For a multi-turn model, each line of a text is a turn.
            **settings: Arguments of CTranslate2's `translate_batch`, such as `beam_size`. The default is greedy
                decoding.

        Returns:
            A list of pairs of answer and score. The score is the summed log-probability of the answer's tokens, in
            nats, divided by their number to the power of `length_penalty` (0 by default). A blank question gives
            ("", 0.0). Without settings, an answer may be retrieved from the known questions, and its score is None.
        """
        results = [self.retrieved(question, settings) if question.strip() else ("", 0.0) for question in questions]
        rest = [i for i, pair in enumerate(results) if pair is None]
        for i, pair in zip(rest, self.generated([questions[i] for i in rest], **settings)):
            results[i] = pair
        return results

    def retrieved(self, question, settings=()):
        """Returns a retrieved answer with the score None, or None if no question is similar or settings are given."""
        match = None if settings or not self.retriever else self.retriever.answer(question)
        return match and (match[0], None)

    def generated(self, questions, **settings):
        """Returns pairs of generated answers and scores for questions that are not blank."""
        rows = [self.tokens_of(question) for question in questions]
        settings = {"beam_size": 1, "length_penalty": 0, "max_batch_size": BATCH, **settings}
        results = self.translator.translate_batch(
            rows, max_input_length=0, max_decoding_length=self.max_length - 1, min_decoding_length=0,
            return_scores=True, **settings,
        )  # fmt: skip
        return [(self.target_tokenizer.decode(result.hypotheses[0]), result.scores[0]) for result in results]

    def tokens_of(self, question):
        """Returns the encoder input: start, pieces, end. Long questions are truncated to the training length."""
        tokenizer = self.tokenizer
        turns = [question] if self.turns == 1 else [turn for turn in question.split("\n") if turn.strip()]
        rows = [tokenizer.encode(self.preprocessed(turn)) for turn in turns[-self.turns :]]
        while len(rows) > 1 and sum(map(len, rows)) + len(rows) + 1 > self.max_length:
            del rows[0]  # The earliest turn.
        ids = [i for row in rows for i in (tokenizer.separator_id, *row)][1:]
        ids = [tokenizer.start_id, *ids[: self.max_length - 2], tokenizer.end_id]
        return tokenizer.tokens(ids)

    def preprocessed(self, text):
        """Returns the text as a tutorial preprocesses it, if config.json says how; otherwise unchanged."""
        if not self.preprocessing:
            return text
        text = text.lower() if self.preprocessing["lower"] else text
        for pattern, replacement in self.preprocessing["replacements"]:
            text = re.sub(pattern, replacement, text)
        return text.strip()


class SentencePieces:
    """A SentencePiece model. The CTranslate2 vocabulary consists of its pieces.

    Args:
        path: Path of the file.
    """

    def __init__(self, path):
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.start_id, self.end_id = self.pieces.bos_id(), self.pieces.eos_id()
        self.separator_id = self.pieces.piece_to_id("<sep>")

    def encode(self, text):
        """Tokenizes a text after applying Unicode NFC and collapsing white space."""
        return self.pieces.encode(" ".join(unicodedata.normalize("NFC", text).split()))

    def tokens(self, ids):
        """Converts ids to CTranslate2 tokens."""
        return self.pieces.id_to_piece(ids)  # Not `encode(…, out_type=str)`, which keeps unknown text.

    def decode(self, tokens):
        """Decodes CTranslate2 tokens into a text."""
        return self.pieces.decode(tokens)


class Subwords:
    """A vocabulary of `SubwordTextEncoder` (tensorflow-datasets). The CTranslate2 tokens are the ids as strings.

    Args:
        path: Path of the file.
    """

    separator_id = None

    def __init__(self, path):
        import tensorflow_datasets

        self.encoder = tensorflow_datasets.deprecated.text.SubwordTextEncoder.load_from_file(str(path.with_suffix("")))
        self.start_id, self.end_id = self.encoder.vocab_size, self.encoder.vocab_size + 1

    def encode(self, text):
        """Tokenizes a text without normalization."""
        return self.encoder.encode(text)

    def tokens(self, ids):
        """Converts ids to CTranslate2 tokens."""
        return [str(i) for i in ids]

    def decode(self, tokens):
        """Decodes CTranslate2 tokens into a text."""
        return self.encoder.decode([i for i in map(int, tokens) if 0 < i < self.start_id])


def load_tokenizer(folder, name):
    """Loads the tokenizer of that name from a folder. Returns None if there is none."""
    for path, kind in ((folder / f"{name}.model", SentencePieces), (folder / f"{name}.subwords", Subwords)):
        if path.is_file():
            return kind(path)
    return None


def load_retriever(folder, program=None):
    """Loads the `Retriever` of the folder. Returns None if all answers are generated."""
    program = program or folder / "retrieval.py"
    return runpy.run_path(str(program))["Retriever"](folder) if (folder / "retrieval.npz").exists() else None


def main():
    """Answers each line of standard input."""
    sys.stdin.reconfigure(encoding="utf-8-sig")
    sys.stdout.reconfigure(encoding="utf-8")
    questions = [line.rstrip("\n") for line in sys.stdin]
    for answer in Bot(pathlib.Path(__file__).parent).replies(questions):
        print(answer)


if __name__ == "__main__":
    main()
