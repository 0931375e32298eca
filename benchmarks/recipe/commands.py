"""A generated language of commands in English and in Korean, with the actions of each command.

A command is a tree: a `Sentence` of one or two `Group`s, which have one or two `Clause`s each. The same tree can be
written in either language. The grammar is our own; like that of SCAN (Lake & Baroni 2018), it nests and repeats its
phrases.
"""

import dataclasses
import random

COMMANDS = 16_000  # Number of pairs in a corpus.
LONGEST = 32  # Maximum number of actions of a command.
SIDES = 4  # Number of sides of a square.
DIRECTIONS = (None, "left", "right", "back")
ACTIONS = ("walk", "jump", "knock", "sit", "look")

TIMES = {2: "twice", 3: "three times"}
TIMES_KO = {2: "두 번", 3: "세 번"}
TOWARDS_KO = {"left": "왼쪽으로", "right": "오른쪽으로", "back": "뒤로"}
VERBS_KO = {
    "walk": ("걸어", "걷고", "걷기"),
    "jump": ("뛰어", "뛰고", "뛰기"),
    "knock": ("두드려", "두드리고", "두드리기"),
    "sit": ("앉아", "앉고", "앉기"),
    "look": ("살펴봐", "살펴보고", "살펴보기"),
}
REPEAT_KO = ("반복해", "반복하고", "반복하기")
COMMAND, AND, NOUN = range(3)  # The three forms of a Korean verb above: 걸어, 걷고, 걷기.
KOREAN_ACTIONS = {
    **{action: VERBS_KO[action][NOUN] for action in ACTIONS},
    **{"left": "왼쪽", "right": "오른쪽", "back": "뒤"},
}


@dataclasses.dataclass(frozen=True)
class Clause:
    """One action, such as "walk left in a square twice".

    Attributes:
        action: One of `ACTIONS`.
        direction: One of `DIRECTIONS`.
        square: Whether the action follows the sides of a square.
        times: Number of repetitions.
    """

    action: str
    direction: str | None = None
    square: bool = False
    times: int = 1

    def actions(self):
        """Returns the actions in order, in English."""
        once = [self.action] if self.direction is None else [self.direction, self.action]
        return once * (SIDES if self.square else 1) * self.times

    def english(self):
        """Returns the clause in English."""
        square = "in a square" if self.square else None
        return joined(self.action, self.direction, square, TIMES.get(self.times))

    def korean(self, form=COMMAND):
        """Returns the clause in Korean, with its verb in one of the three forms."""
        square = "네모를 그리며" if self.square else None
        return joined(square, TOWARDS_KO.get(self.direction), TIMES_KO.get(self.times), VERBS_KO[self.action][form])


@dataclasses.dataclass(frozen=True)
class Group:
    """One or two clauses in order, which can be repeated as a whole.

    Attributes:
        clauses: The clauses.
        times: Number of repetitions.
    """

    clauses: tuple
    times: int = 1

    def actions(self):
        """Returns the actions in order, in English."""
        return [action for clause in self.clauses for action in clause.actions()] * self.times

    def english(self):
        """Returns the group in English."""
        clauses = " and ".join(clause.english() for clause in self.clauses)
        return clauses if self.times == 1 else f"{TIMES[self.times]} over {clauses}"

    def korean(self, form=COMMAND):
        """Returns the group in Korean, with its last verb in one of the three forms."""
        *before, last = self.clauses
        before = [clause.korean(AND) for clause in before]
        if self.times == 1:
            return joined(*before, last.korean(form))
        return joined(*before, f"{last.korean(NOUN)}를 통째로", TIMES_KO[self.times], REPEAT_KO[form])


@dataclasses.dataclass(frozen=True)
class Sentence:
    """One or two groups in order.

    Attributes:
        first: The group that is executed first.
        second: The second group, or None.
        swapped: Whether the second group is named first: "jump after walk".
    """

    first: Group
    second: Group | None = None
    swapped: bool = False

    def actions(self):
        """Returns the actions in order, in English."""
        return self.first.actions() + (self.second.actions() if self.second else [])

    def english(self):
        """Returns the sentence in English."""
        if self.second is None:
            return self.first.english()
        if self.swapped:
            return f"{self.second.english()} after {self.first.english()}"
        return f"{self.first.english()} then {self.second.english()}"

    def korean(self):
        """Returns the sentence in Korean."""
        if self.second is None:
            return self.first.korean()
        if self.swapped:
            return f"{self.second.korean(NOUN)} 전에 {self.first.korean()}"
        return f"{self.first.korean(AND)} 나서 {self.second.korean()}"


def joined(*words):
    """Joins the nonempty words with spaces."""
    return " ".join(filter(None, words))


def draw_clause(draw):
    """Returns a random `Clause`, drawn by a `random.Random`."""
    direction = draw.choice(DIRECTIONS)
    square = direction in ("left", "right") and draw.random() < 0.2
    return Clause(draw.choice(ACTIONS), direction, square, draw.choice((1, 1, 2, 3)))


def draw_group(draw):
    """Returns a random `Group`, drawn by a `random.Random`."""
    clauses = tuple(draw_clause(draw) for _ in range(draw.choice((1, 2))))
    return Group(clauses, draw.choice((1, 1, 2, 3)) if len(clauses) == 2 else 1)


def draw_sentence(draw):
    """Returns a random `Sentence`, drawn by a `random.Random`."""
    if draw.random() < 0.1:
        return Sentence(draw_group(draw))
    return Sentence(draw_group(draw), draw_group(draw), draw.random() < 0.5)


def sentences(count=COMMANDS, seed=0):
    """Returns distinct sentences of at most `LONGEST` actions, in the order in which they were drawn."""
    draw, drawn = random.Random(seed), {}
    while len(drawn) < count:
        sentence = draw_sentence(draw)
        if len(sentence.actions()) <= LONGEST:
            drawn[sentence] = None
    return list(drawn)


def english_pairs():
    """Returns commands in English with their actions."""
    return [(one.english(), " ".join(one.actions()).upper()) for one in sentences()]


def korean_pairs():
    """Returns the same commands in Korean with their actions."""
    return [(one.korean(), " ".join(KOREAN_ACTIONS[action] for action in one.actions())) for one in sentences()]
