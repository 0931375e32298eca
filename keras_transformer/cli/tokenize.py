"""The command `tokenize`: what a run makes of text."""

import json
import sys


def tokenize_texts(run, texts, answers, as_json):
    """Prints the pieces and the token ids of each text; what the tokenizer does not know goes to standard error.

    Args:
        run: The `Run`.
        texts: The texts, an iterable.
        answers: Whether they are cut as answers, where these have a tokenizer of their own.
        as_json: Whether each becomes a JSON object.
    """
    tokenizer = run.target_tokenizer if answers else run.tokenizer
    for text in texts:
        pieces, ids, unknown = tokenizer.pieces(text), tokenizer.encode(text), tokenizer.unknown(text)
        if as_json:
            found = {"text": text, "pieces": pieces, "ids": ids, "unknown": unknown}
            print(json.dumps(found, ensure_ascii=False), flush=True)
            continue
        print("\t".join(pieces))
        print("\t".join(map(str, ids)), flush=True)
        if unknown:
            print(f"unknown to this run: {' '.join(unknown)}", file=sys.stderr)
