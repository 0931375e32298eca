import argparse
import hashlib

import pandas
import pytest

from keras_transformer.data import corpus as module
from keras_transformer.data.catalog import NamedCorpus
from keras_transformer.data.corpus import Corpus, Sample, add_to_fingerprint, load_pairs
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.split import split_pairs
from keras_transformer.errors import InputError


def frame(*pairs):
    return pandas.DataFrame(pairs, columns=["question", "answer"])


def many(count):
    return frame(*[(f"질문 {i}", f"답 {i}") for i in range(count)])


def joined(corpus, name, turns=1):
    """All pairs of a split."""
    return [row for splits in corpus.splits(turns) for row in pairs_of(splits.get(name, frame()))]


def pairs_of(rows):
    return list(rows[["question", "answer"]].itertuples(index=False, name=None))


def fingerprint(pairs, name=None):
    digest = hashlib.sha256()
    add_to_fingerprint(digest, name, pairs)
    return digest.hexdigest()


def test_fingerprint():
    pairs = frame(("안녕?", "네"), ("hi", "hello"))
    assert fingerprint(pairs) == hashlib.sha256("3:안녕?1:네2:hi5:hello".encode()).hexdigest()
    assert fingerprint(pairs.set_index(pandas.Index([7, 3]))) == fingerprint(pairs)
    assert fingerprint(pairs, "train") != fingerprint(pairs, "test")


def test_the_fingerprint_of_a_corpus_too_small_to_train_on(tmp_path):
    (tmp_path / "test.csv").write_text("question,answer\n안녕?,네\n")
    (tmp_path / "dev.csv").write_text("question,answer\nhi,hello\n")
    assert Corpus(tmp_path).fingerprint() == hashlib.sha256("validation2:hi5:hellotest3:안녕?1:네".encode()).hexdigest()
    pairs = many(300)
    assert Corpus(pairs).fingerprint() == Corpus(pairs).survey().fingerprint


@pytest.mark.parametrize(
    "other",
    [
        frame(("hi", "hello"), ("안녕?", "네")),
        frame(("안녕?", "네")),
        frame(("안녕", "?네"), ("hi", "hello")),
        frame(("안녕?", "네hi"), ("", "hello")),
        frame(("안녕?", "네"), ("hi", "Hello")),
    ],
    ids=["order", "fewer", "moved in a pair", "moved between pairs", "letter"],
)
def test_fingerprint_differs(other):
    assert fingerprint(other) != fingerprint(frame(("안녕?", "네"), ("hi", "hello")))


def test_a_file_has_the_parts_of_the_frozen_split(tmp_path):
    many(300).to_csv(tmp_path / "pairs.csv", index=False)
    corpus, expected = Corpus(tmp_path / "pairs.csv"), split_pairs(many(300))
    survey = corpus.survey()
    assert survey.sizes == {name: len(split) for name, split in expected.items()}
    assert pairs_of(survey.sample) == pairs_of(expected["train"])
    for name, split in expected.items():
        assert joined(corpus, name) == pairs_of(split)


def test_the_shards_of_a_folder_make_one_corpus(tmp_path):
    whole = many(300)
    for i in range(3):
        whole[100 * i : 100 * (i + 1)].to_json(tmp_path / f"{i}.jsonl", orient="records", lines=True)
    (tmp_path / "README.md").write_text("Not a corpus.")
    corpus, alone = Corpus(tmp_path), Corpus(whole)
    assert corpus.survey().fingerprint == alone.survey().fingerprint
    assert joined(corpus, "train") == joined(alone, "train")
    assert len(list(corpus.splits())) == 3


def test_files_are_the_parts_that_their_names_say(tmp_path):
    for name, pairs in (("fre_dev", many(3)), ("fre_test", many(2)), ("fre_train", many(9))):
        pairs.to_csv(tmp_path / f"{name}.tsv", sep="\t", header=False, index=False)
    corpus = Corpus(tmp_path)
    assert corpus.survey().sizes == {"train": 9, "validation": 3, "test": 2}
    assert joined(corpus, "validation") == pairs_of(many(3))


def test_without_a_file_of_validation_some_training_pairs_are_taken(tmp_path):
    many(300).to_csv(tmp_path / "train.csv", index=False)
    many(5).to_csv(tmp_path / "test.csv", index=False)
    split = split_pairs(many(300))
    sizes = Corpus(tmp_path).survey().sizes
    assert sizes == {"train": 300 - len(split["validation"]), "validation": len(split["validation"]), "test": 5}


def test_with_a_file_of_validation_all_else_is_for_training(tmp_path):
    many(10).to_csv(tmp_path / "a.csv", index=False)
    corpus = Corpus(many(20), validation=tmp_path / "a.csv")
    assert corpus.survey().sizes == {"train": 20, "validation": 10, "test": 0}
    assert corpus.source["validation"] == [str(tmp_path / "a.csv")]


def test_the_same_corpus_is_found_again(tmp_path):
    many(200).rename(columns={"question": "Frage"}).to_csv(tmp_path / "a.csv", index=False, encoding="utf-16")
    corpus = Corpus(tmp_path / "a.csv", "Frage", "answer", "utf-16")
    assert Corpus.from_source(corpus.source).survey().fingerprint == corpus.survey().fingerprint


def test_rows_left_out_are_told_once(tmp_path):
    many(200).to_csv(tmp_path / "a.csv", index=False)
    with open(tmp_path / "a.csv", "a") as file:
        file.write("no answer,\n")
    many(9).to_csv(tmp_path / "b.csv", index=False)
    corpus = Corpus(tmp_path)
    with pytest.warns(CorpusWarning, match="1 of 201 rows left out"):
        corpus.survey()
    assert len(list(corpus.splits())) == 2  # A warning would be an error here.


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no corpus file in this folder"),
        ({"train.csv": 200, "more.csv": 9}, r"more\.csv: its name contains no split"),
        ({"test.csv": 200}, "leaves none for train"),
        ({"a.csv": 3}, "too small: the split of its 3 pairs leaves none for validation; .* with --no-hold-out"),
    ],
)
def test_a_folder_that_cannot_be_trained_on_is_refused(tmp_path, files, message):
    for name, count in files.items():
        many(count).to_csv(tmp_path / name, index=False)
    with pytest.raises(InputError, match=message):
        Corpus(tmp_path).survey()


def test_a_sample_is_drawn_evenly_and_the_same_every_time(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 100)

    def drawn():
        sample = Sample()
        for i in range(10):
            sample.add(many(1000)[100 * i : 100 * (i + 1)])
        return sample.pairs

    first = drawn()
    assert len(first) == 100 and set(pairs_of(first)) < set(pairs_of(many(1000)))
    assert 30 < (first.index < 500).sum() < 70
    assert pairs_of(drawn()) == pairs_of(first)


def test_load_pairs_takes_what_a_corpus_takes(tmp_path):
    for name, text in {"dev.csv": "Q,A\na,1\n", "train.jsonl": '{"q": "b", "a": "2"}\n{"q": "c", "a": ""}\n'}.items():
        (tmp_path / name).write_text(text)
    with pytest.warns(CorpusWarning, match="row 2: no answer") as caught:
        assert load_pairs(tmp_path).to_numpy().tolist() == [["a", "1"], ["b", "2"]]
    assert caught[0].filename == __file__
    with pytest.raises(InputError, match=r"no such file; and .* 'small_tlk': did you mean small_talk"):
        load_pairs("small_tlk")


def test_load_pairs_downloads_a_corpus_of_the_catalog_if_necessary(monkeypatch):
    downloaded = []
    monkeypatch.setattr("keras_transformer.data.corpus.download_corpus", downloaded.append)
    monkeypatch.setattr(NamedCorpus, "splits", {"train": 1, "test": 1})
    monkeypatch.setattr("keras_transformer.data.corpus.corpus_pairs", lambda name, split: iter([(name, split)]))
    assert load_pairs("chatbot_ko").to_numpy().tolist() == [["chatbot_ko", "train"], ["chatbot_ko", "test"]]
    assert downloaded == ["chatbot_ko"]


def test_what_load_pairs_reads_is_a_corpus_too(tmp_path):
    (tmp_path / "a.txt").write_text("q\n" * 30 + "r\n" * 30)
    (tmp_path / "b.txt").write_text("a\n" * 60)
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    corpus = Corpus(paths, validation=paths)
    assert joined(corpus, "train") == joined(corpus, "validation") == pairs_of(load_pairs(paths))


def test_a_name_of_the_catalog_is_a_corpus(monkeypatch):
    told = []
    monkeypatch.setattr(module, "download_corpus", told.append)
    monkeypatch.setattr(module, "find_corpus", lambda name: argparse.Namespace(splits={"train": 3, "validation": 2}))
    monkeypatch.setattr(module, "corpus_pairs", lambda name, split: iter(pairs_of(many(3 if split == "train" else 2))))
    monkeypatch.setattr(module, "CHUNK", 2)
    corpus = Corpus("talk")
    assert told == ["talk"]
    assert corpus.survey().sizes == {"train": 3, "validation": 2, "test": 0}
    assert [len(splits["train"]) for splits in corpus.splits() if "train" in splits] == [2, 1]
    assert corpus.source["corpus"] == ["talk"]


def test_the_catalog_knows_the_licence_and_a_file_does_not(made_up_corpus, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "download_corpus", lambda name: None)
    assert Corpus(made_up_corpus("Q,A\n").name).licence == "CC0"
    (tmp_path / "pairs.tsv").write_text("q\ta\n")
    assert Corpus(tmp_path / "pairs.tsv").licence is None
    assert Corpus(many(3)).licence is None


def test_what_is_neither_a_file_nor_a_name_is_refused():
    with pytest.raises(
        InputError, match=r"chatbot: no such file; and no corpus is named 'chatbot': did you mean chatbot_ko\?"
    ):
        Corpus("chatbot").survey()


def test_a_misspelled_file_is_a_file_before_it_is_a_name(tmp_path):
    (tmp_path / "faq.csv").write_text("q,a\n")
    for name in ("faq", "faqs", "faq.cvs"):
        with pytest.raises(InputError, match=rf"{name}: no such file; did you mean .*/faq\.csv\?$"):
            Corpus(tmp_path / name)


def test_conversations_keep_their_turns_and_stay_in_one_part(tmp_path):
    lines = [f'{{"turns": ["질문 {i}", "b", "c", "d"]}}' for i in range(300)]
    (tmp_path / "talks.jsonl").write_text("\n".join(lines), "utf-8")
    corpus, openings = Corpus(tmp_path / "talks.jsonl"), many(300)
    assert corpus.survey(turns=3).sizes == {name: 3 * len(split) for name, split in split_pairs(openings).items()}
    found = {name: {row[0].split("\n")[0] for row in joined(corpus, name, turns=3)} for name in ("train", "validation")}
    assert found == {name: set(split_pairs(openings)[name]["question"]) for name in found}


def test_what_its_name_says_is_test_is_never_trained_on(tmp_path):
    for name, count in (("train", 9), ("test", 4)):
        many(count).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "held").mkdir()
    for name, count in (("train", 7), ("dev", 2)):
        many(count).to_csv(tmp_path / f"held/{name}.csv", index=False)
    assert Corpus(tmp_path, validation=tmp_path / "held").survey().sizes == {"train": 9, "validation": 2, "test": 4}


def test_an_opening_is_part_of_the_fingerprint():
    pairs = frame(("a", "b"), ("b", "c"))
    assert fingerprint(pairs.assign(opening=["a", "b"])) == fingerprint(pairs)
    assert fingerprint(pairs.assign(opening=["a", "a"])) != fingerprint(pairs)


@pytest.mark.parametrize(("kept", "readings"), [(5, 1), (4, 2)])
def test_a_corpus_that_fits_into_memory_is_read_once(tmp_path, monkeypatch, kept, readings):
    many(5).to_csv(tmp_path / "pairs.csv", index=False)
    monkeypatch.setattr(module, "MAX_PAIRS_IN_MEMORY", kept)
    read, opened = module.read_chunks, []
    monkeypatch.setattr(module, "read_chunks", lambda *args, **options: opened.append(args) or read(*args, **options))
    corpus = Corpus(tmp_path / "pairs.csv")
    fingerprint = corpus.fingerprint()
    assert corpus.fingerprint() == fingerprint
    assert len(opened) == readings
    corpus.fingerprint(turns=2)
    assert len(opened) == readings + 1


def test_a_file_that_cannot_be_read_is_an_error_before_it_is_read_whole(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        Corpus(tmp_path / "none.csv")
    (tmp_path / "korean.csv").write_bytes("질문,답변\n안녕,반가워\n".encode("cp949"))
    with pytest.raises(InputError, match="give --encoding cp949"):
        Corpus(tmp_path / "korean.csv", encoding="utf-8")
