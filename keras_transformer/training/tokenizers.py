"""The tokenizers of a training: learned from its corpus, or read from files."""

from keras_transformer.config import SHARED
from keras_transformer.errors import InputError
from keras_transformer.text.tokenizer import Tokenizer


def make_tokenizers(pairs, config, tokenizer_file=None, target_tokenizer_file=None):
    """The tokenizers of a new run.

    Args:
        pairs: DataFrame of training pairs; no others may shape a tokenizer.
        config: The `Config`.
        tokenizer_file: File of a tokenizer to take instead of learning one.
        target_tokenizer_file: The same for the answers alone.

    Returns:
        The `Tokenizer` of the questions, and that of the answers, the same unless they have their own.

    Raises:
        InputError: If a file cannot be read, or has no separator where turns need one.
    """
    own = config.target_tokenizer != SHARED or target_tokenizer_file is not None
    if tokenizer_file is not None:
        source = Tokenizer.load(tokenizer_file)
    else:
        texts = pairs["question"] if own else [*pairs["question"], *pairs["answer"]]
        source = learn(texts, config.tokenizer, config, separator=config.turns > 1)
    if config.turns > 1 and source.separator_id is None:
        raise InputError(f"{tokenizer_file}: has no separator, so that turns must be 1, not {config.turns}")
    if not own:
        return source, source
    if target_tokenizer_file is not None:
        return source, Tokenizer.load(target_tokenizer_file)
    kind = config.tokenizer if config.target_tokenizer == SHARED else config.target_tokenizer
    return source, learn(pairs["answer"], kind, config)


def learn(texts, kind, config, separator=False):
    """A tokenizer of some texts."""
    return Tokenizer.train(texts, config.vocab_size, kind, config.jamo, separator)


def check_tokenizers(run, tokenizer_file=None, target_tokenizer_file=None):
    """Raises `InputError` if one of the files holds another tokenizer than the run has."""
    for file, tokenizer in ((tokenizer_file, run.tokenizer), (target_tokenizer_file, run.target_tokenizer)):
        if file is not None and Tokenizer.load(file).model != tokenizer.model:
            raise InputError(f"{run.path}: has another tokenizer than {file}; name another run folder")
