"""How to train on a corpus."""

import json
import pathlib
import random
import shlex

import numpy as np
import pandas
import pytest

from keras_transformer import Config, CorpusWarning, InputError, Tokenizer, preset
from keras_transformer.cli import main
from keras_transformer.data.augmentation import augment
from keras_transformer.data.corpus import Corpus
from keras_transformer.data.packing import PackedRows
from keras_transformer.data.quality import recommendation as module
from keras_transformer.data.quality.recommendation import (
    choose_max_length,
    count_batches,
    draw,
    preset_for,
    recommend,
    recommend_for,
    train_command,
    turn_lengths,
    warm_up,
)
from keras_transformer.data.tokenized import encode_pairs

pytestmark = pytest.mark.heavy

REAL_CORPUS = pathlib.Path(__file__).parents[4] / "shared" / "corpora" / "chatbot_ko" / "ChatbotData.csv"


def frame(pairs):
    return pandas.DataFrame(list(pairs), columns=["question", "answer"])


def sentences(count, seed, longest=12):
    drawn = random.Random(seed)
    known = ["".join(drawn.choices("가나다라마바사아자차카타파하", k=drawn.randint(1, 4))) for _ in range(5000)]
    return [" ".join(drawn.choices(known, k=drawn.randint(2, longest))) for _ in range(count)]


def chat(count):
    """Pairs of Korean sentences that have nothing to do with one another."""
    return frame(zip(sentences(count, 0), sentences(count, 1)))


def faq(count):
    return frame([(f"How do I find item {i}?", f"Look on shelf {i % 7}.") for i in range(count)])


def sums(count):
    drawn = random.Random(0)
    numbers = [(drawn.randrange(300), drawn.randrange(300)) for _ in range(count)]
    return frame([(f"{a} + {b}", str(a + b)) for a, b in numbers])


def rule(count):
    """A made-up language, of which each sentence has another translation."""
    questions = sentences(count, 0)
    return frame([(question, " ".join(word[::-1] for word in question.split())) for question in questions])


def words(count):
    drawn = random.Random(0)
    known = ["".join(drawn.choices("abcdefghij", k=drawn.randint(3, 9))) for _ in range(count)]
    return frame([(word, " ".join(word.upper())) for word in known])


CORPORA = {"chat": chat, "faq": faq, "sums": sums, "rule": rule, "words": words}


def updates(recommendation, pairs):
    """The updates of a training on all of some pairs."""
    config = recommendation.config
    trained = pandas.concat([pairs, augment(pairs, config.augment, (config.seed, 0))]) if config.augment else pairs
    tokenizer = Tokenizer.train([*pairs["question"], *pairs["answer"]], config.vocab_size, config.tokenizer)
    encoded = encode_pairs(trained, tokenizer, config.max_length)
    return config.epochs * len(PackedRows(encoded, config.batch_size))


def test_a_korean_chat_is_known_by_heart():
    found = recommend(chat(2000), 10_646)
    config = found.config
    assert found.kind == "chat"
    assert config.tie_embeddings and config.hold_out and (config.augment, config.recombine) == (0, 2)
    assert (config.schedule, config.monitor, config.patience) == ("cosine", "accuracy", 0)
    assert (config.num_layers, config.d_model, config.num_heads, config.dff) == (2, 256, 8, 512)
    assert (config.batch_size, config.epochs) == (64, 9)  # Of each pair and two that are made up.
    assert (config.tokenizer, config.target_tokenizer) == ("character", "sentencepiece")
    assert found.line == (
        "Chosen for chat: question–answer pairs to memorize (10,646 pairs, lengths of questions and answers "
        f"unrelated); characters to {config.vocab_size:,} pieces, 2 layers of 256, 9 epochs."
    )


def test_questions_of_a_large_chat_are_not_recombined():
    config = recommend(chat(2000), module.MOST_RECOMBINED + 1).config
    assert (config.recombine, config.epochs) == (0, 14)  # Of the pairs and nearly as many noisy copies.
    assert (config.tokenizer, config.target_tokenizer) == ("sentencepiece", "shared")


def test_a_small_faq_is_trained_on_whole_and_for_long():
    pairs = faq(40)
    found = recommend(pairs, 40)
    assert (found.kind, found.config.hold_out, found.config.batch_size) == ("chat", False, 16)
    assert found.config.epochs == module.CHAT_MOST_PASSES
    assert found.line.endswith("epochs, nothing held out.")
    assert found.reasons[-1] == "nothing held out: 40 different questions"
    pairs = faq(200)
    assert updates(recommend(pairs, 200), pairs) >= module.LEAST_STEPS


@pytest.mark.parametrize(("questions", "held_out"), [(1999, False), (2000, True)])
def test_few_different_questions_are_all_trained_on(questions, held_out):
    pairs = pandas.concat([faq(questions), faq(10).assign(answer="again")])
    assert recommend(pairs, len(pairs)).config.hold_out is held_out


def test_of_a_corpus_with_its_own_validation_nothing_is_repeated():
    assert recommend(faq(40), 40, has_validation=True).config.hold_out


def test_sums_are_cut_into_characters():
    found = recommend(sums(8000), 8000)
    config = found.config
    assert (found.kind, config.tokenizer, config.target_tokenizer) == ("translation", "character", "shared")
    assert (config.monitor, config.label_smoothing, config.dropout, config.norm_first) == ("val_accuracy", 0, 0.0, True)
    assert (config.epochs, config.learning_rate) == (round(450_000 / 8000), 0.0007)
    assert "; characters, 2 layers of 256, 56 epochs." in found.line


def test_a_rule_of_natural_language_is_cut_into_pieces():
    found = recommend(rule(2000), 29_000)
    config = found.config
    assert (found.kind, config.tokenizer, config.monitor) == ("translation", "sentencepiece", "val_bits_per_char")
    assert (config.label_smoothing, config.dropout, config.learning_rate) == (0.1, 0.3, 0.002)
    assert config.epochs == round(450_000 / 29_000)
    assert recommend(rule(2000), 60_000).config.dropout == 0.1


@pytest.mark.parametrize(("pairs", "epochs"), [(2000, 60), (900_000, 10), (2_000_000, 5), (10**7, 3)])
def test_epochs_of_a_rule(pairs, epochs):
    assert recommend(rule(1500), pairs).config.epochs == epochs


def test_large_corpora_have_large_models():
    base, big = (recommend(rule(1500), pairs).config for pairs in (10**6, 2 * 10**7))
    for config, name in ((base, "base"), (big, "big")):
        sizes = preset(name)
        assert (config.num_layers, config.d_model, config.dff) == (sizes.num_layers, sizes.d_model, sizes.dff)
        assert (config.max_length, config.learning_rate, config.warmup_steps) == (128, 0.0005, 4000)


def test_words_have_the_preset_of_characters():
    found = recommend(words(3600), 3600)
    config = found.config
    assert (found.kind, config.tokenizer, config.target_tokenizer) == ("words", "character", "word")
    assert config.epochs == 180 and config.hold_out
    assert "; characters to words, 4 layers of 128, 180 epochs." in found.line
    same = ("num_layers", "d_model", "dff", "dropout", "label_smoothing", "batch_size", "monitor", "schedule")
    assert all(getattr(config, name) == getattr(preset("characters"), name) for name in same)
    assert recommend(words(3600), 40_000).config.epochs < 30
    assert recommend(words(3600), 10**7).config.epochs == 10


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("pairs", [10, 100, 1000, 10_000, 100_000, 10**6, 10**7])
def test_the_warm_up_is_shorter_than_the_training(name, pairs, monkeypatch):
    counted = []
    monkeypatch.setattr(module, "count_batches", lambda *given: counted.append(count_batches(*given)) or counted[-1])
    config = recommend(CORPORA[name](min(pairs, 1500)), pairs).config
    assert config.warmup_steps <= config.epochs * counted[0] / 2
    assert config.warmup_steps <= module.MOST_WARM_UP


@pytest.mark.parametrize(("updates", "steps"), [(1, 1), (2, 1), (60, 30), (1000, 100), (10**6, 4000)])
def test_warm_up(updates, steps):
    assert warm_up(updates, 0.1, least=50) == steps


@pytest.mark.parametrize("name", CORPORA)
def test_batches_are_counted_as_training_makes_them(name, monkeypatch):
    pairs, counted = CORPORA[name](700), []
    monkeypatch.setattr(module, "count_batches", lambda *given: counted.append(count_batches(*given)) or counted[-1])
    found = recommend(pairs, 700)
    if found.config.target_tokenizer == "shared":
        assert updates(found, pairs) == found.config.epochs * counted[0]


def test_the_recommendation_is_the_same_each_time(monkeypatch):
    monkeypatch.setattr(module, "MEASURED", 300)
    pairs = faq(1000)
    assert recommend(pairs, 1000) == recommend(pairs, 1000)
    drawn = draw(pairs)
    assert len(drawn) == 300 and list(drawn.index) == sorted(drawn.index)
    assert 100 < (drawn.index < 500).sum() < 200


def test_texts_in_parts_need_no_fewer_characters():
    import unicodedata

    syllables = [chr(ord("가") + 7 * i) for i in range(1200)]
    pairs = frame([(unicodedata.normalize("NFD", one + "는?"), "네") for one in syllables])
    config = recommend(pairs, len(pairs)).config
    Tokenizer.train([*pairs["question"], *pairs["answer"]], config.vocab_size, config.tokenizer)


def test_long_pairs_of_a_faq_are_not_left_out():
    long = frame([("long one", " ".join(map(str, range(100))))])
    config = recommend(pandas.concat([faq(200), long]), 201).config
    assert 100 < config.max_length <= 512


def test_settings_go_before_what_is_recommended():
    found = recommend(faq(40), 40)
    changed = found.replace(epochs=5, d_model=64)
    assert changed.config == found.config.replace(epochs=5, d_model=64)
    assert "2 layers of 64, 5 epochs" in changed.line


def test_json_can_hold_it():
    from dataclasses import asdict

    found = json.loads(json.dumps(asdict(recommend(faq(40), 40))))
    assert set(found) == {"kind", "config", "reasons"}
    assert Config.from_dict(found["config"]).hold_out is False


# Of a corpus


def test_a_corpus_is_read_whole_if_little_is_in_it():
    found, survey, _ = recommend_for(Corpus(faq(40)))
    assert survey.sizes == {"train": 40, "validation": 40, "test": 0}
    assert "(40 pairs)" in found.line
    found, survey, _ = recommend_for(Corpus(faq(3000)))
    assert survey.sizes["train"] < 3000 and f"({survey.sizes['train']:,} pairs" in found.line


def test_too_few_words_to_hold_any_out():
    found, survey, _ = recommend_for(Corpus(words(15)))
    assert (found.config.hold_out, survey.sizes["train"]) == (False, 15)


def test_a_folder_of_training_and_test_is_trained_on_without_a_validation(tmp_path):
    for name in ("train", "test"):
        faq(20).to_csv(tmp_path / f"{name}.csv", index=False)
    assert recommend_for(Corpus(tmp_path))[1].sizes == {"train": 20, "validation": 20, "test": 20}


def test_what_is_asked_for_is_held_out():
    with pytest.raises(InputError, match="too small: the split of its 20 pairs leaves none for validation"):
        recommend_for(Corpus(frame([("안녕", "응")] * 20)), hold_out=True)
    assert recommend_for(Corpus(faq(400)), hold_out=True)[0].config.hold_out
    assert not recommend_for(Corpus(faq(2000)), hold_out=False)[0].config.hold_out


def test_rows_left_out_are_told_once(tmp_path):
    faq(40).to_csv(tmp_path / "a.csv", index=False)
    with open(tmp_path / "a.csv", "a") as file:
        file.write("no answer,\n")
    with pytest.warns(CorpusWarning) as caught:
        recommend_for(Corpus(tmp_path / "a.csv"))
    assert len(caught) == 1


def test_with_a_tokenizer_of_a_file_no_vocabulary_is_measured(tmp_path, monkeypatch):
    pairs = chat(600)
    Tokenizer.train([*pairs["question"], *pairs["answer"]], 600).save(tmp_path / "one.model")
    monkeypatch.setattr(module, "choose_tokenizer", None)
    found, _, (source, target) = recommend_for(Corpus(pairs), tokenizer=tmp_path / "one.model")
    assert source is target and found.config.vocab_size == source.vocab_size
    assert found.reasons[1] == "tokenizer from a file"


@pytest.mark.skipif(not REAL_CORPUS.exists(), reason="the corpora are not beside the repository, in ../shared/corpora")
def test_the_korean_corpus():
    found, survey, _ = recommend_for(Corpus(REAL_CORPUS))
    assert survey.sizes == {"train": 10_646, "validation": 579, "test": 598}
    assert (found.kind, found.config.vocab_size, found.config.max_length) == ("chat", 4000, 64)


# Parts of it


@pytest.mark.parametrize(
    ("tokens", "name"),
    [(0, "small"), (9_999_999, "small"), (10_000_000, "base"), (200_000_000, "big"), (10**12, "big")],
)
def test_sizes_by_tokens(tokens, name):
    assert preset_for(tokens) == name


@pytest.mark.parametrize(
    ("lengths", "limit"),
    [
        ([10] * 1000, 64),
        ([10] * 996 + [300] * 4, 64),
        ([10] * 994 + [65] * 6, 72),
        ([10] * 500 + [100] * 500, 104),
        ([2000] * 1000, 512),
    ],
    ids=["all fit", "5 of 1,000 may not", "6 of 1,000 may", "many", "far too long"],
)
def test_max_length(lengths, limit):
    assert choose_max_length(np.array(lengths), 64) == limit
    assert choose_max_length(np.array(lengths), 64, fitting=1) == min(512, max(64, -(-max(lengths) // 8) * 8))


def test_turns_are_counted_with_their_separators():
    class Letters:
        def encode(self, texts):
            return [list(text) for text in texts]

    whole, last = turn_lengths(Letters(), [["abc"], ["abc", "de", "f"]])
    assert whole == [1 + 3 + 1, 1 + 3 + 1 + 2 + 1 + 1 + 1]
    assert last == [1 + 3 + 1, 1 + 1 + 1]


def test_earlier_turns_lengthen_the_questions():
    pairs = frame([(f"hello {i}\nSAME\nbye", "last") for i in range(300)])
    config = recommend(pairs, 300, turns=3).config
    assert config.turns == 3


def parsed(command):
    """What the command line understands of a command."""
    program, *words = shlex.split(command)
    assert program == "keras-transformer"
    return main.parser().parse_args(words)


def test_the_command_is_plain():
    assert train_command("pairs.csv", encoding="UTF-8") == "keras-transformer train pairs.csv --run runs/pairs"
    assert train_command(["q.txt", "a.txt"], encoding="cp949") == (
        "keras-transformer train q.txt a.txt --run runs/q --encoding cp949"
    )
    assert train_command("chatbot_ko") == "keras-transformer train chatbot_ko --run runs/chatbot_ko"
    assert train_command("folder/") == "keras-transformer train folder/ --run runs/folder"


def test_the_command_can_be_typed_whatever_the_names():
    options = parsed(train_command("내 자료/그의 'a'.csv", "질문 $1", "답; rm", "utf-16", 3))
    assert options.corpus == ["내 자료/그의 'a'.csv"]
    assert (options.question, options.answer, options.encoding) == ("질문 $1", "답; rm", "utf-16")
    assert (options.run, options.turns) == ("runs/그의 'a'", 3)
