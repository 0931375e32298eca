"""The versions of the published chatbot tutorial."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Tutorial:
    """What the weights of a version do not show.

    Attributes:
        alternating: Whether sines and cosines alternate in the position table; otherwise, all sines come first.
        residuals: How often the residual of cross-attention is added.
        preprocessing: Name of the preprocessing of its texts, one of `PREPROCESSINGS`.
    """

    alternating: bool
    residuals: int
    preprocessing: str


TUTORIALS = {
    "wikidocs": Tutorial(True, 1, "punctuation"),
    "blog": Tutorial(False, 1, "english"),
    "colab": Tutorial(False, 1, "contractions"),
    "github": Tutorial(False, 2, "contractions"),
}
"""wikidocs.net/89786, TensorFlow's blog of May 2019, and the notebook and model.py of tf2-transformer-chatbot."""

NUM_HEADS, MAX_LENGTH = 8, 40  # Of all versions.
