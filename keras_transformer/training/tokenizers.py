"""The tokenizers of a training: trained on its corpus, or loaded from files."""

from keras_transformer.config import SHARED
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.tokenizer import Tokenizer


def make_tokenizers(pairs, config, tokenizer_file=None, target_tokenizer_file=None):
    """Returns the tokenizers of a new run.

    Args:
        pairs: DataFrame of training pairs. Tokenizers must not be trained on other splits.
        config: The `Config`.
        tokenizer_file: File of a tokenizer to load instead of training one.
        target_tokenizer_file: File of a separate tokenizer for the answers.

    Returns:
        The `Tokenizer` of the questions and that of the answers; both are the same object if they share one.

    Raises:
        InputError: If a file cannot be read, or its tokenizer lacks the separator that several turns need.
    """
    separate = config.target_tokenizer != SHARED or target_tokenizer_file is not None
    if tokenizer_file is not None:
        source = Tokenizer.load(tokenizer_file)
    else:
        texts = pairs["question"] if separate else [*pairs["question"], *pairs["answer"]]
        source = train_tokenizer(texts, config.tokenizer, config, separator=config.turns > 1)
    if config.turns > 1 and source.separator_id is None:
        raise InputError(
            _(
                "{tokenizer_file}: has no separator token, so turns must be 1, not {turns}",
                tokenizer_file=tokenizer_file,
                turns=config.turns,
            )
        )
    if not separate:
        return source, source
    if target_tokenizer_file is not None:
        return source, Tokenizer.load(target_tokenizer_file)
    kind = config.tokenizer if config.target_tokenizer == SHARED else config.target_tokenizer
    return source, train_tokenizer(pairs["answer"], kind, config)


def train_tokenizer(texts, kind, config, separator=False):
    """Trains a tokenizer on texts."""
    return Tokenizer.train(texts, config.vocab_size, kind, config.jamo, separator)


def check_tokenizers(run, tokenizer_file=None, target_tokenizer_file=None):
    """Raises `InputError` if a file contains another tokenizer than that of the run."""
    for file, tokenizer in ((tokenizer_file, run.tokenizer), (target_tokenizer_file, run.target_tokenizer)):
        if file is not None and Tokenizer.load(file).model != tokenizer.model:
            raise InputError(
                _("{path}: has another tokenizer than {file}; name another run folder", path=run.path, file=file)
            )
