"""A trained run that answers questions in text."""

from keras_transformer.decoding.generate import begin, generate
from keras_transformer.run import Run

BATCH = 64
INCOMPLETE = "\ufffd"  # What the bytes of a character that is not whole yet decode to.


class Chatbot:
    """A model and its tokenizer, asked in text.

    Args:
        model: A trained `transformer()`.
        tokenizer: The `Tokenizer` it was trained with.
        max_length: Tokens of a question and of an answer, start and end included. Longer questions are read up to
            there, as the model never saw more in training.
    """

    def __init__(self, model, tokenizer, max_length):
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length

    @classmethod
    def load(cls, run_dir):
        """The chatbot of a run folder with its best weights; raises `InputError` if it cannot be read."""
        run = Run(run_dir)
        return cls(run.load_model(), run.tokenizer, run.config.max_length)

    def reply(self, question, strategy=None):
        """The answer to one question, "" to a blank one."""
        return self.replies([question], strategy)[0]

    def replies(self, questions, strategy=None):
        """The answers to many questions, in their order; batched by length behind the scenes."""
        ids = [self.ids_of(question) for question in questions]
        order = sorted((i for i, row in enumerate(ids) if row), key=lambda i: len(ids[i]))
        answers = [""] * len(ids)
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            generation = generate(self.model, padded([ids[i] for i in rows]), **self.limits(), strategy=strategy)
            for i, answer in zip(rows, self.tokenizer.decode(generation.ids)):
                answers[i] = answer
        return answers

    def stream(self, question, strategy=None):
        """The answer to one question as it is made: pieces of text, whole characters only, that join to the answer."""
        ids = self.ids_of(question)
        if not ids:
            return
        state, advance = begin(self.model, padded([ids]), **self.limits(), strategy=strategy)
        shown = ""
        for tokens in range(1, self.max_length):
            state = advance(state, tokens)
            ended = bool(state["ended"][0]) or tokens == self.max_length - 1
            text = self.tokenizer.decode([int(i) for i in state["ids"][0]])
            whole = text if ended else text.rstrip(INCOMPLETE)
            if len(whole) > len(shown):
                yield whole[len(shown) :]
                shown = whole
            if ended:
                return

    def ids_of(self, question):
        """What the encoder reads: start, pieces, end; nothing for a blank question."""
        ids = self.tokenizer.encode(question)[: self.max_length - 2]
        return [self.tokenizer.start_id, *ids, self.tokenizer.end_id] if ids else []

    def limits(self):
        """What `generate` has to know besides the question."""
        tokens = self.tokenizer
        return {"start_id": tokens.start_id, "end_id": tokens.end_id, "max_length": self.max_length - 1}


def padded(rows):
    """Rows of ids filled up with 0 to the longest."""
    width = max(map(len, rows))
    return [row + [0] * (width - len(row)) for row in rows]
