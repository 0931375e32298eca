import gzip
import pathlib
import re
import shutil

import pandas
import pyarrow
import pyarrow.parquet
import pytest

from keras_transformer.data.corpus import Corpus
from keras_transformer.data.folders import files_in, split_of
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.errors import InputError


def write(folder, **files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def parquet(path, count, first=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pyarrow.table(
        {side: [f"{side} {i}" for i in range(first, first + count)] for side in ("question", "answer")}
    )
    pyarrow.parquet.write_table(table, path)


def saved_dataset(folder, count):
    """A folder as `Dataset.save_to_disk` of Hugging Face writes it."""
    folder.mkdir(parents=True)
    table = pyarrow.table({side: [f"{side} {i}" for i in range(count)] for side in ("question", "answer")})
    for name in ("data-00000-of-00001.arrow", "cache-0f1e2d3c.arrow"):
        with pyarrow.OSFile(str(folder / name), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    write(folder, **{"dataset_info.json": "{}", "state.json": "{}"})


def names(folder):
    return [(file.relative_to(folder).as_posix(), split) for file, split in files_in(folder)]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train-00001-of-00010.csv", "train"),
        ("hun_dev.tsv", "validation"),
        ("valid.csv", "validation"),
        ("chat.test.jsonl", "test"),
        ("training2.csv", "train"),
        ("testimony.csv", None),
        ("대화.csv", None),
        ("data/train-00000-of-00002.parquet", "train"),
        ("validation/0000.parquet", "validation"),
        ("ko/test/0000.parquet", "test"),
        ("test/train.csv", "train"),
        ("data/nlu.yml", None),
    ],
)
def test_words_in_a_name_say_the_part(name, split):
    assert split_of(pathlib.Path(name)) == split


def test_shards_of_a_dataset_in_its_folder_data(tmp_path):
    parquet(tmp_path / "data/train-00000-of-00002.parquet", 3)
    parquet(tmp_path / "data/train-00001-of-00002.parquet", 3, first=3)
    parquet(tmp_path / "data/test-00000-of-00001.parquet", 2)
    write(tmp_path, **{"README.md": "---\n---\n", ".gitattributes": "x"})
    assert names(tmp_path) == [
        ("data/test-00000-of-00001.parquet", "test"),
        ("data/train-00000-of-00002.parquet", "train"),
        ("data/train-00001-of-00002.parquet", "train"),
    ]
    corpus = Corpus(tmp_path, validation=tmp_path / "data/test-00000-of-00001.parquet")
    assert corpus.survey().sizes == {"train": 6, "validation": 2, "test": 2}
    train = pandas.concat(splits["train"] for splits in corpus.splits() if "train" in splits)
    assert list(zip(train["file"], train["row"]))[2:4] == [
        ("train-00000-of-00002.parquet", 3),
        ("train-00001-of-00002.parquet", 1),
    ]


def test_a_dataset_that_was_saved(tmp_path):
    saved_dataset(tmp_path / "one", 4)
    assert names(tmp_path / "one") == [("data-00000-of-00001.arrow", None)]
    saved_dataset(tmp_path / "several/train", 4)
    saved_dataset(tmp_path / "several/validation", 2)
    write(tmp_path / "several", **{"dataset_dict.json": "{}"})
    assert Corpus(tmp_path / "several").survey().sizes == {"train": 4, "validation": 2, "test": 0}


RASA = {
    "config.yml": "language: ko\n",
    "domain.yml": "responses:\n  utter_faq/hours:\n  - text: 아홉 시요.\n",
    "data/nlu/faq.yml": "nlu:\n- intent: faq/hours\n  examples: |\n    - 언제 열어?\n    - 몇 시에 열어?\n",
    "data/nlu/order.yml": "nlu:\n- intent: order\n  examples: |\n    - 주문이요\n",
    "data/nlu/names.yml": "nlu:\n- lookup: name\n  examples: |\n    - 부산\n",
    "data/rules.yml": "rules: []\n",
    "tests/test_stories.yml": "stories: []\n",
    "requirements.txt": "rasa\n",
    "data/nlu/test_names.txt": "부산\n서울\n",
}


@pytest.mark.parametrize("folder", ["", "data"])
def test_a_project_of_rasa(tmp_path, folder):
    write(tmp_path, **RASA)
    assert [name for name, _split in names(tmp_path)] == [
        "data/nlu/faq.yml",
        "data/nlu/names.yml",
        "data/nlu/order.yml",
    ]
    corpus = Corpus(tmp_path / folder)
    with pytest.warns(CorpusWarning, match=r"order\.yml: 1 of 1 rows left out: row 4: no rule or response answers"):
        corpus.fingerprint()
    pairs = pandas.concat(corpus.chunks())
    assert pairs[["question", "answer", "file", "row"]].values.tolist() == [
        ["언제 열어?", "아홉 시요.", "faq.yml", 4],
        ["몇 시에 열어?", "아홉 시요.", "faq.yml", 5],
    ]


def test_a_project_without_pairs(tmp_path):
    write(tmp_path, **(RASA | {"domain.yml": "responses: {}\n"}))
    with pytest.raises(InputError, match=r"faq\.yml: no question-answer pair in it \(row 4: no rule or response"):
        Corpus(tmp_path).survey()


def test_corpora_of_chatterbot_are_those_files_that_have_conversations(tmp_path):
    write(tmp_path, **{"a.yml": "conversations:\n- - a\n  - b\n", "b.yaml": "'conversations' :\n- - c\n  - d\n",
                       "settings.yml": "x: 1\n"})  # fmt: skip
    assert names(tmp_path) == [("a.yml", None), ("b.yaml", None)]
    assert [len(pairs) for pairs in Corpus(tmp_path).chunks()] == [1, 1]


def test_a_zip_file_beside_what_it_holds_is_not_read(tmp_path):
    write(tmp_path, **{"a.csv": "Q,A\na,b\n", "a.zip": "x"})
    assert names(tmp_path) == [("a.csv", None)]


def test_json_is_read_where_there_is_nothing_else(tmp_path):
    write(tmp_path, **{"train.json": '[{"q": "a", "a": "b"}]', "dev.json": '{"data": [{"q": "c", "a": "d"}]}'})
    assert names(tmp_path) == [("dev.json", "validation"), ("train.json", "train")]
    write(tmp_path, **{"data.csv": "Q,A\na,b\n"})
    assert names(tmp_path) == [("data.csv", None)]


def test_a_corpus_is_the_same_in_another_format(tmp_path):
    pairs = pandas.DataFrame({"question": [f"질문 {i}" for i in range(9)], "answer": "답"})
    for name, save in (("csv", pairs.to_csv), ("xlsx", pairs.to_excel), ("parquet", pairs.to_parquet)):
        save(tmp_path / f"a.{name}", index=False)
    fingerprints = {Corpus(path).fingerprint() for path in tmp_path.iterdir()}
    assert len(fingerprints) == 1
    shutil.move(tmp_path / "a.xlsx", tmp_path / "moved.xlsx")
    assert Corpus.from_source({"corpus": [str(tmp_path / "moved.xlsx")]}).fingerprint() in fingerprints


def test_a_folder_without_a_corpus(tmp_path):
    write(tmp_path, **{"README.md": "x", "deep/er/a.csv": "Q,A\na,b\n"})
    with pytest.raises(
        InputError, match=re.escape(f"{tmp_path}: no corpus file in this folder; its name must end in one")
    ):
        files_in(tmp_path)


PARALLEL = {
    "train.en": "hello\nbye\n", "train.de": "hallo\ntschüss\n",
    "val.en": "yes\n", "val.de": "ja\n",
    "test_2016.en": "no\n", "test_2016.de": "nein\n", "test_2016.fr": "non\n",
    "README.md": "x",
}  # fmt: skip


@pytest.mark.parametrize(("question", "answer"), [("en", "de"), ("de", "en")])
def test_parallel_text_in_two_languages(tmp_path, question, answer):
    write(tmp_path, **PARALLEL)
    corpus = Corpus(tmp_path, question, answer)
    assert corpus.survey().sizes == {"train": 2, "validation": 1, "test": 1}
    [train] = [splits["train"] for splits in corpus.splits() if "train" in splits]
    sides = {"en": ["hello", "bye"], "de": ["hallo", "tschüss"]}
    assert train[["question", "answer"]].values.T.tolist() == [sides[question], sides[answer]]
    assert train[["file", "row"]].values.tolist() == [[f"train.{question} + train.{answer}", row] for row in (1, 2)]


def test_parallel_text_whose_direction_is_not_said(tmp_path):
    write(tmp_path, **PARALLEL)
    with pytest.raises(InputError, match=r"if line i of test_2016\.en translates line i of test_2016\.de, add "
                       r"--question de --answer en$"):  # fmt: skip
        files_in(tmp_path)


def test_parallel_text_in_a_language_that_is_not_there(tmp_path):
    write(tmp_path, **PARALLEL)
    with pytest.raises(InputError, match="no corpus file in this folder; if line i of"):
        Corpus(tmp_path, "en", "ko")


def test_parallel_text_of_which_one_file_names_no_split(tmp_path):
    write(tmp_path, **(PARALLEL | {"more.en": "a\n", "more.de": "b\n"}))
    with pytest.raises(InputError, match=r"more\.en \+ .*more\.de: its name contains no split"):
        Corpus(tmp_path, "en", "de")


def test_compressed_parallel_text(tmp_path):
    for name in ("train.en", "train.de", "dev.en", "dev.de"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(f"{name}\n".encode()))
    pairs = pandas.concat(Corpus(tmp_path, "de", "en").chunks())
    assert pairs[["question", "answer"]].values.tolist() == [["dev.de", "dev.en"], ["train.de", "train.en"]]
