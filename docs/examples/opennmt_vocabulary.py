"""Converts a vocabulary of OpenNMT-tf to a tokenizer for `keras-transformer train --tokenizer-file`.

    python docs/examples/opennmt_vocabulary.py src-vocab.txt src.model    # one token a line
    python docs/examples/opennmt_vocabulary.py sp.model tokenizer.model   # onmt-build-vocab --sentencepiece

Pieces, scores and normalization stay. Only the special tokens get other ids: 0 to 3.
"""

import pathlib
import sys

from sentencepiece import sentencepiece_model_pb2

SPECIAL_IDS = {"pad": 0, "unk": 1, "bos": 2, "eos": 3}


def words_model(lines):
    """Returns the SentencePiece model, a `ModelProto`, of the lines of a vocabulary file: each token is a word."""
    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = model.trainer_spec.WORD
    model.normalizer_spec.name = "identity"
    for word in dict.fromkeys(lines):
        if word not in ("", "<blank>", "<s>", "</s>", "<unk>"):
            model.pieces.add(piece=f"▁{word}", score=0)
    return model


def with_special_ids(model):
    """Gives a `ModelProto` the special tokens with the ids that keras_transformer expects."""
    spec = model.trainer_spec
    names = {"pad": spec.pad_piece, "unk": spec.unk_piece, "bos": spec.bos_piece, "eos": spec.eos_piece}
    pieces = [piece for piece in model.pieces if piece.piece not in names.values()]
    del model.pieces[:]
    for name, i in SPECIAL_IDS.items():
        kind = model.SentencePiece.UNKNOWN if name == "unk" else model.SentencePiece.CONTROL
        model.pieces.add(piece=names[name], score=0, type=kind)
        setattr(spec, f"{name}_id", i)
    model.pieces.extend(pieces)


def convert(source, target):
    """Writes the tokenizer of a vocabulary file, or of a SentencePiece model."""
    data = pathlib.Path(source).read_bytes()
    if str(source).endswith(".model"):
        model = sentencepiece_model_pb2.ModelProto.FromString(data)
    else:
        model = words_model(data.decode("utf-8").splitlines())
    with_special_ids(model)
    pathlib.Path(target).write_bytes(model.SerializeToString())


if __name__ == "__main__":
    convert(*sys.argv[1:])
