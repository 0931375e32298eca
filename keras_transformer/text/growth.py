"""Growth of a SentencePiece vocabulary by pieces for the texts of another corpus.

The new ids follow the old ones. What the vocabulary lacks (characters; for the kind "word", words) becomes pieces. With
the kinds "unigram" and "bpe", frequent neighbours within a word are joined as well, which continues byte-pair encoding
(Sennrich et al. 2016) from the old pieces. No library continues one, SentencePiece neither.

A joined piece scores hardly more than its parts (unigram), or less than all older pieces (BPE). So it replaces its own
parts, and no other way to split a text:

- A text that contains no new piece keeps its ids.
- Any other text keeps them as well, except that some neighbours are one piece now, and that characters which were bytes
  or the unknown id are themselves.

Ties between two ways to split a text may be decided otherwise than before.
"""

import collections
import functools
import heapq
import itertools
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.sentence_pieces import SPACE, SentencePieces
from keras_transformer.text.tokenizer import Tokenizer

NUL = "\0"  # No piece can contain it.
OFTEN = 5  # Minimum number of occurrences of a joined piece.
BONUS = 0.01  # Unigram: by how much a joined piece scores more than its parts, for each part but the first.


def grow(tokenizer, texts, most):
    """Returns a `Tokenizer` with further pieces for texts; the tokenizer itself if they need none.

    Args:
        tokenizer: The `Tokenizer`.
        texts: A list of strings.
        most: Maximum number of joined pieces. Characters and words that the vocabulary lacks are always added.

    Raises:
        InputError: If the tokenizer is a `.subwords` vocabulary.
    """
    if tokenizer.ending != SentencePieces.ending:
        raise InputError(_("a .subwords vocabulary cannot grow: bytes and the start and end tokens have its last ids"))
    model = proto(tokenizer)
    spec, size = model.trainer_spec, len(model.pieces)
    texts = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model).normalize(
        [tokenizer.normal_form(text) for text in texts]
    )
    add(model, missing_units(model, texts))
    if spec.model_type in (spec.UNIGRAM, spec.BPE):
        add_joined(model, texts, most)
    if len(model.pieces) == size:
        return tokenizer
    spec.vocab_size = len(model.pieces)
    return Tokenizer(SentencePieces(model.SerializeToString()))


def spellings(tokenizer, grown):
    """Returns the ids by which a `Tokenizer` spells each piece that a grown one has in addition, as lists."""
    if grown.vocab_size == tokenizer.vocab_size:
        return []
    pieces = [piece.piece for piece in proto(grown).pieces[tokenizer.vocab_size :]]
    return segmenter(proto(tokenizer)).encode(pieces, num_threads=1)


def lacking(tokenizer, texts):
    """Returns the characters (for the kind "word", words) of texts that a `Tokenizer` could grow by, sorted."""
    units = {unit for text in texts for unit in tokenizer.vocabulary.units(tokenizer.normal_form(text))}
    return sorted(unit for unit in units if NUL not in unit and not tokenizer.vocabulary.knows(unit))


def proto(tokenizer):
    """Returns the `ModelProto` of a `Tokenizer`."""
    return sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)


def segmenter(model):
    """Returns a SentencePiece processor that splits texts which a `ModelProto` has normalized, and pieces."""
    copy = sentencepiece_model_pb2.ModelProto.FromString(model.SerializeToString())
    copy.normalizer_spec.Clear()
    copy.normalizer_spec.add_dummy_prefix = copy.normalizer_spec.remove_extra_whitespaces = False
    return sentencepiece.SentencePieceProcessor(model_proto=copy.SerializeToString())


def missing_units(model, texts):
    """Returns the characters (for the kind "word", words) of normalized texts that are no pieces, frequent first."""
    of_words = model.trainer_spec.model_type == model.trainer_spec.WORD
    pieces, counts = {piece.piece for piece in model.pieces}, collections.Counter()
    for text in texts:
        counts.update([SPACE + word for word in text.split(SPACE) if word] if of_words else text)
    missing = (unit for unit in counts if unit not in pieces and NUL not in unit)
    return sorted(missing, key=lambda unit: (-counts[unit], unit))


def add(model, pieces):
    """Adds pieces to a `ModelProto`: with falling scores below all others (BPE), or with the score of the worst."""
    worst = min(piece.score for piece in model.pieces if piece.type == piece.NORMAL)
    fall = 1 if model.trainer_spec.model_type == model.trainer_spec.BPE else 0
    for rank, piece in enumerate(pieces, 1):
        model.pieces.add(piece=piece, score=worst - fall * rank)


def add_joined(model, texts, most):
    """Adds pieces that join frequent neighbours in normalized texts to a `ModelProto` of unigrams or of BPE."""
    scores, size = {piece.piece: piece.score for piece in model.pieces}, len(model.pieces)
    joined = join_frequent(count_words(segmenter(model).encode(texts, out_type=str, num_threads=1)), scores, most)
    if model.trainer_spec.model_type == model.trainer_spec.BPE:
        add(model, joined)  # With those that only lead to longer ones.
        return
    for piece, parts in joined.items():
        model.pieces.add(piece=piece, score=sum(map(scores.get, parts)) + BONUS * (len(parts) - 1))
    used = collections.Counter(itertools.chain.from_iterable(segmenter(model).encode(texts, num_threads=1)))
    often = [piece for number, piece in enumerate(model.pieces[size:], size) if used[number] >= OFTEN]
    del model.pieces[size:]
    model.pieces.extend(often)


def count_words(rows):
    """Counts the words of texts that are lists of pieces: the longest runs of letters of one script, as tuples."""
    words = collections.Counter()
    for pieces in rows:
        word, last = [], None
        for piece in pieces:
            script = script_of(piece)
            if piece.startswith(SPACE) or script is None or last not in ("", script):
                words[tuple(word)] += 1
                word = []
            word.append(piece)
            last = script
        words[tuple(word)] += 1
    return words


@functools.cache
def script_of(piece):
    """Returns the script of a piece of letters ("" for a mere space); None if it has others, or those of several."""
    letters = piece.replace(SPACE, "")
    if any(unicodedata.category(letter)[0] not in "LM" for letter in letters):
        return None
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return None if len(scripts) > 1 else "".join(scripts)


def join_frequent(words, existing, most):
    """Joins the most frequent neighbours, again and again, while they occur at least `OFTEN` times.

    Args:
        words: The number of occurrences of each word, a tuple of pieces.
        existing: Pieces that are no result: whatever keeps them apart will do so again.
        most: Maximum number of joined pieces.

    Returns:
        A dictionary from joined pieces, in their order, to the parts that `words` have, tuples.
    """
    words = [[list(word), count] for word, count in words.items()]
    counts, places = collections.Counter(), collections.defaultdict(set)
    for place, (word, count) in enumerate(words):
        for pair in itertools.pairwise(word):
            counts[pair] += count
            places[pair].add(place)
    # Entries with an old count stay in the heap and are replaced when it is their turn.
    heap, joined = [(-count, pair) for pair, count in counts.items()], {}
    heapq.heapify(heap)
    while heap and len(joined) < most:
        count, pair = heapq.heappop(heap)
        if -count != counts[pair]:
            heapq.heappush(heap, (-counts[pair], pair))
            continue
        if -count < OFTEN:
            break
        if "".join(pair) in existing:
            continue
        joined["".join(pair)] = tuple(itertools.chain.from_iterable(joined.get(part, (part,)) for part in pair))
        changed = set()
        for place in places.pop(pair):
            word, count = words[place]
            for neighbours in itertools.pairwise(word):
                counts[neighbours] -= count
            word[:] = with_joined(word, pair)
            for neighbours in itertools.pairwise(word):
                counts[neighbours] += count
                places[neighbours].add(place)
            changed.update(neighbours for neighbours in itertools.pairwise(word) if "".join(pair) in neighbours)
        for neighbours in changed:
            heapq.heappush(heap, (-counts[neighbours], neighbours))
    return joined


def with_joined(word, pair):
    """Returns a word, a list of pieces, in which a pair of neighbours is joined wherever it occurs."""
    pieces = []
    for piece in word:
        if pieces and (pieces[-1], piece) == pair:
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces
