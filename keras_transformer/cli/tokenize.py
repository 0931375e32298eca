"""The `tokenize` command: prints the pieces and token ids of text."""

import json
import sys

from keras_transformer.cli.console import echo
from keras_transformer.language import translate as _


def tokenize_texts(run, texts, answers, as_json):
    """Prints the pieces and token ids of each text; unknown characters are reported on standard error.

    Args:
        run: The `Run`.
        texts: The texts, an iterable.
        answers: Whether to use the tokenizer of the answers.
        as_json: Whether to print one JSON object per text.
    """
    tokenizer = run.target_tokenizer if answers else run.tokenizer
    for text in texts:
        pieces, ids, unknown = tokenizer.pieces(text), tokenizer.encode(text), tokenizer.unknown(text)
        if as_json:
            record = {"text": text, "pieces": pieces, "ids": ids, "unknown": unknown}
            echo(json.dumps(record, ensure_ascii=False), flush=True)
            continue
        echo("\t".join(pieces))
        echo("\t".join(map(str, ids)), flush=True)
        if unknown:
            echo(_("unknown to this run: {characters}", characters=" ".join(unknown)), file=sys.stderr)
