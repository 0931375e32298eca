import numpy as np
import pytest

from benchmarks.korean_chatbot import peer_answers
from benchmarks.korean_chatbot.peer_answers import answer_bits, greedy, train

START, END = 2, 3
VOCABULARY = 8
NEXT = {START: 4, 4: 5, 5: END}


class Toy:
    """Finds what `NEXT` says half as likely as all, and the other seven tokens a fourteenth each."""

    def __init__(self, follows=NEXT):
        self.follows, self.seen, self.epoch = follows, [], 0

    def log_probabilities(self, questions, answers):
        self.seen.append((len(questions), answers.shape))
        found = np.full((*answers.shape, VOCABULARY), np.log(1 / 14))
        for (row, column), token in np.ndenumerate(answers):
            found[row, column, self.follows.get(token, 6)] = np.log(1 / 2)
        return found

    def last_logits(self, questions, answers):
        return self.log_probabilities(questions, answers)[:, -1]


class Learning(Toy):
    """A peer whose validation goes as it is told: an answer of one token costs it that many bits a token."""

    def __init__(self, bits):
        super().__init__()
        self.bits, self.restored = bits, None

    def fit_epoch(self, questions, answers):
        self.epoch += 1

    def log_probabilities(self, questions, answers):
        return np.full((*answers.shape, VOCABULARY), -self.bits[self.epoch - 1] * np.log(2))

    def weights(self):
        return self.epoch

    def restore(self, weights):
        self.restored = weights


def test_bits_are_those_of_the_tokens_and_the_end_token_not_of_padding():
    answers = [[START, 4, 5, END], [START, END]]
    # The first is what is expected: three tokens of 1 bit. The second ends at once, one of 14: log2(14) bits.
    assert answer_bits(Toy(), [[START, END]] * 2, answers) == pytest.approx([3, np.log2(14)])


def test_bits_of_many_answers_stand_in_their_order(monkeypatch):
    monkeypatch.setattr(peer_answers, "BATCH", 2)
    toy = Toy()
    answers = [[START, END], [START, 4, 5, END], [START, 4, END]]
    assert answer_bits(toy, [[9]] * 3, answers) == pytest.approx([np.log2(14), 3, 1 + np.log2(14)])
    assert toy.seen == [(2, (2, 3)), (1, (1, 2))]


def test_answers_end_before_the_end_token():
    assert greedy(Toy(), [[START, 7, END]] * 3, START, END, VOCABULARY) == [[4, 5]] * 3


def test_answers_that_do_not_end_are_cut(monkeypatch):
    monkeypatch.setattr(peer_answers, "MOST_TOKENS", 6)
    assert greedy(Toy({START: 4, 4: 4}), [[START, END]], START, END, VOCABULARY) == [[4] * 6]


def test_no_answer_holds_what_the_tokenizer_does_not_know():
    toy = Toy({START: 7, 0: END})  # 7 is the likeliest to begin with; of the first five, all are alike.
    assert greedy(toy, [[START, END]], START, END, 5) == [[0]]


def test_answers_are_made_side_by_side(monkeypatch):
    monkeypatch.setattr(peer_answers, "BATCH", 2)
    toy = Toy()
    assert len(greedy(toy, [[START, END]] * 5, START, END, VOCABULARY)) == 5
    assert [rows for rows, _ in toy.seen] == [2] * 6 + [1] * 3  # Three tokens each, for two, two and one.


ONE = ([[START, END]], [[START, 4, END]])  # Two tokens to predict.


def test_training_ends_when_validation_gets_no_better_and_the_best_weights_count():
    peer = Learning([5.0, 4.0, 4.5, 4.2, 4.1, 1.0])
    # Two tokens of so many bits, over four characters.
    assert train(peer, ONE, ONE, 4, 50) == pytest.approx([2.5, 2.0, 2.25, 2.1, 2.05])
    assert peer.restored == 2


def test_training_ends_at_its_bound(capsys):
    peer = Learning([5.0, 4.0, 3.0, 2.0])
    assert train(peer, ONE, ONE, 2, 3) == pytest.approx([5, 4, 3])
    assert peer.restored == 3
    assert capsys.readouterr().out.splitlines()[-1] == '{"epoch": 3, "bits_per_char": 3.0}'
