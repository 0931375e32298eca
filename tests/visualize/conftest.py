import numpy as np
import pytest

from keras_transformer import AttentionTrace


@pytest.fixture
def make_attended():
    """A function that makes up what was attended to: random weights of two layers and three heads."""

    def make(question=("<start>", "배고픈데", "뭐", "먹지", "?", "<end>"), answer=("밥", "먹어요", ".", "<end>")):
        draws = np.random.default_rng(0)

        def weights(rows, columns, mask=1):
            drawn = draws.random((2, 3, len(rows), len(columns)), "float32") ** 4 * mask
            return drawn / drawn.sum(axis=-1, keepdims=True)

        return AttentionTrace(
            question_text="배고픈데 뭐 먹지?",
            question=list(question),
            answer=list(answer),
            partial_answers=["밥", "밥 먹어요", "밥 먹어요.", "밥 먹어요."][: len(answer)],
            encoder=weights(question, question),
            decoder=weights(answer, answer, np.tri(len(answer), dtype="float32")),
            cross=weights(answer, question),
            answers=[("밥 먹어요.", -0.25)],
        )

    return make
