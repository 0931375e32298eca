"""Whatever a file contains: it is read for what it is, or refused in one line."""

import csv
import gzip
import io
import json
import warnings
import zipfile

import pandas
import pytest
from hypothesis import strategies as st

from keras_transformer import Chatbot, Config, InputError, Run, load_pairs
from keras_transformer.chat.datastore import Datastore
from keras_transformer.config import FIELDS
from keras_transformer.config_file import config_file_text, read_config_file
from keras_transformer.evaluation.golden import add_to_golden, read_golden
from keras_transformer.export.loader import open_bot
from keras_transformer.export.registry import export
from keras_transformer.printable import printable_line
from keras_transformer.text.normalize import normalize

from .conftest import changed, damaged, json_values, numbers, texts, unicode_texts

pytestmark = pytest.mark.slow
CORPORA = {
    "a.csv": 'question,answer,n\r\n"안녕, 너",반가워요.,1\r\nhello,"Hi ""there""\nfriend",2\r\nbye,See you.,3\r\n',
    "a.tsv": "질문\t답변\n안녕\t반가워요.\nhello\tHi there!\n",
    "a.txt": "안녕\t반가워요.\nhello\tHi there!\n",
    "a.jsonl": '{"Q": "안녕", "A": "반가워요."}\n{"turns": ["a", {"role": "user", "content": "b"}, "c"]}\n',
    "two.txt": "안녕\nhello\nbye\n",
    "chat.txt": "저장한 날짜 : 2023-05-02 10:00:00\n--------------- 2023년 5월 1일 월요일 ---------------\n"
    "[가] [오후 3:15] 안녕\n[나] [오후 3:16] 응\n2023년 5월 1일 오후 3:17, 가 : a : b\n"
    "May 1, 2023 at 15:18, 나 : 사진\n오후 3:19, 가 : c\n",
    "chat.csv": 'Date,User,Message\n2023-05-01 15:15:00,"가","안녕"\n2023-05-01 15:16:00,"나","응"\n',
    "talk.yml": "categories:\n- AI\nconversations:\n- - 안녕\n  - 42\n- - 'a'\n  - \"b\"\n  - >-\n    c\n",
    "nlu.yml": "nlu:\n- intent: faq/a\n  examples: |\n    - 안녕 [a](b)\n- intent: c\n  examples: [{text: d}]\n"
    "responses:\n  utter_faq/a: [{text: 네}]\n  utter_c: [{text: e}]\n"
    "rules:\n- steps: [{intent: c}, {action: utter_c}]\n",
}
PAIRS = pandas.DataFrame({"question": ["안녕", "hello", "bye"], "answer": ["반가워요.", "Hi!", "See you."]})


def corpora():
    """The bytes of a corpus of each format, by the names of their files."""
    files = {name: text.encode() for name, text in CORPORA.items()}
    files["a.csv.gz"] = gzip.compress(files["a.csv"])
    for name, write in (("a.xlsx", PAIRS.to_excel), ("a.parquet", PAIRS.to_parquet), ("a.arrow", PAIRS.to_feather)):
        file = io.BytesIO()
        write(file, **{} if name == "a.arrow" else {"index": False})
        files[name] = file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for language in ("ko", "en"):
            archive.writestr(f"a.ko-en.{language}", "안녕\nhello\n")
    return files | {"ko-en.zip": file.getvalue()}


def one_line(error):
    """Whether an error is one that commands print in one line, with what a file has in it escaped."""
    return isinstance(error, InputError) and str(error).strip() and "\n" not in printable_line(str(error))


def test_damaged_corpora(fuzz, tmp_path):
    answers = tmp_path / "answers.txt"
    answers.write_text("반가워요.\nHi there!\nSee you.\n", encoding="utf-8")

    def check(case):
        name, data, encoding = case
        path = tmp_path / name
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Of rows left out, and of what an encoding reads as an escape.
                pairs = load_pairs([path, answers] if name == "two.txt" else path, encoding=encoding)
        except InputError as error:
            assert one_line(error)
            return
        for text in [*pairs["question"], *pairs["answer"]]:
            assert text == text.strip() != ""
            assert "\0" not in text
            text.encode()

    encodings = st.sampled_from(
        [None, "utf-8", "utf-8", "cp949", "utf-16", "latin-1", "utf-7", "unicode_escape", "hex"]
    )
    seeds = corpora()
    files = st.sampled_from(sorted(seeds)).flatmap(
        lambda name: st.tuples(st.just(name), damaged(seeds[name]), encodings)
    )
    fuzz(files, check, 0.05)


def test_corpora_come_back_as_they_were_written(fuzz, tmp_path):
    lines = unicode_texts.filter(lambda text: text.strip() and "\0" not in text and not text.startswith("\ufeff"))

    def check(case):
        pairs, ending = case
        path = tmp_path / f"pairs{ending}"
        text = io.StringIO(newline="")
        if ending == ".jsonl":
            text.writelines(json.dumps({"question": q, "answer": a}) + "\n" for q, a in pairs)
        else:
            table = csv.writer(text, dialect="excel-tab" if ending == ".tsv" else "excel")
            table.writerows([("question", "answer"), *pairs])
        path.write_bytes(text.getvalue().encode())
        read = load_pairs(path)[["question", "answer"]].values.tolist()
        assert read == [[q.strip(), a.strip()] for q, a in pairs]

    pairs = st.lists(st.tuples(lines, lines), min_size=1, max_size=5)
    fuzz(st.tuples(pairs, st.sampled_from([".csv", ".tsv", ".jsonl"])), check, 0.03)


def test_settings(fuzz, tmp_path):
    """What `Config` takes, a configuration file gives back."""
    path = tmp_path / "config.toml"
    choices = [choice for field in FIELDS.values() for choice in field.metadata["choices"] or ()]
    values = st.one_of(json_values, numbers, st.sampled_from(choices))

    def check(settings):
        try:
            config = Config.from_dict(settings)
        except InputError as error:
            assert one_line(error)
            return
        path.write_text(config_file_text(config.to_dict(), {}), encoding="utf-8")
        assert Config.from_dict(read_config_file(path)[0]) == config

    fuzz(st.dictionaries(st.sampled_from(sorted(FIELDS)), values, max_size=3), check, 0.06)


def test_configuration_files(fuzz, tmp_path):
    path = tmp_path / "config.toml"
    seed = config_file_text(Config().to_dict(), {"corpus": ["a.csv"], "run": "runs/a", "preset": "small"})

    def check(data):
        path.write_bytes(data)
        try:
            settings, rest = read_config_file(path)
            Config.from_dict(settings)
        except InputError as error:
            assert one_line(error)
            return
        assert all(isinstance(value, (str, list)) for value in rest.values())

    fuzz(damaged(seed.encode()), check, 0.05)


QUESTIONS = ["hello", "배고파!", "good night", "아무 말", ""]


def found_by(bot):
    """What a chatbot retrieves. Generating would compile programs for each model, which are never freed."""
    return [[match.to_dict() for match in near] for near in bot.matches(QUESTIONS)]


@pytest.fixture(scope="module")
def undamaged(small_run):
    return found_by(Chatbot.load(small_run))


def files_of(folder):
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name != "lock")


def test_damaged_run_folders_are_noticed(fuzz, run_copy, undamaged):
    """With its checksums, a run answers as before or not at all."""
    files = {path: path.read_bytes() for path in files_of(run_copy)}

    def check(case):
        path, data = case
        path.write_bytes(data)
        try:
            Run(run_copy).check_files()
            found = found_by(Chatbot.load(run_copy))
            Run(run_copy).summary()
            Run(run_copy).best_weights()
        except InputError as error:
            assert one_line(error)
            return
        finally:
            path.write_bytes(files[path])
        assert found == undamaged

    damage = st.sampled_from(sorted(files)).flatmap(lambda path: st.tuples(st.just(path), damaged(files[path])))
    fuzz(damage, check, 0.03)


def test_run_folders_of_strangers(fuzz, run_copy):
    """Without checksums, whatever the files say is an error in one line, or something that can answer."""
    checksums = run_copy / "checksums.json"
    seal = checksums.read_bytes()
    checksums.unlink()
    names = ["config.json", "answering.json", "summary.json", "metrics.csv", "datastore.jsonl", "corrections.jsonl"]
    taught = [{"question": "hello", "answer": "Howdy!"}, {"question": "bye", "forgotten": True}]
    (run_copy / "corrections.jsonl").write_text("".join(json.dumps(one) + "\n" for one in taught))
    files = {run_copy / name: (run_copy / name).read_bytes() for name in names}
    structured = [path for path in files if path.suffix == ".json"]

    def check(case):
        path, data = case
        path.write_bytes(data)
        try:
            run = Run(run_copy)
            found = found_by(Chatbot.of_run(run))
            run.summary()
            run.metrics()
        except InputError as error:
            assert one_line(error)
            return
        finally:
            path.write_bytes(files[path])
        assert len(found) == len(QUESTIONS)

    any_bytes = st.sampled_from(sorted(files)).flatmap(lambda path: st.tuples(st.just(path), damaged(files[path])))
    any_json = st.sampled_from(structured).flatmap(
        lambda path: st.tuples(
            st.just(path), changed(json.loads(files[path])).map(lambda value: json.dumps(value).encode())
        )
    )
    try:
        fuzz(any_bytes | any_json, check, 0.02)
    finally:
        (run_copy / "corrections.jsonl").unlink()
        checksums.write_bytes(seal)


def test_corrections_by_hand(fuzz, run_copy):
    path = run_copy / "corrections.jsonl"
    checksums = run_copy / "checksums.json"
    seal = checksums.read_bytes()
    checksums.unlink()
    records = st.fixed_dictionaries(
        {"question": texts | json_values}, optional={"answer": texts | json_values, "forgotten": json_values}
    )
    lines = (
        st.lists(records.map(json.dumps) | texts, max_size=4)
        .map("\n".join)
        .map(lambda text: text.encode("utf-8", "replace"))
    )

    def check(data):
        path.write_bytes(data)
        try:
            datastore = Datastore(run_copy, Run(run_copy).id)
            datastore.nearest(["hello", "배고파"])
            corrections = datastore.corrections
            datastore.teach("hello", "Howdy!")
        except InputError as error:
            assert one_line(error)
            return
        finally:
            path.unlink(missing_ok=True)
        assert datastore.answers_to("hello") or corrections

    try:
        fuzz(lines, check, 0.03)
    finally:
        checksums.write_bytes(seal)


def test_golden_files(fuzz, tmp_path):
    path = tmp_path / "golden.jsonl"
    seed = '{"question": "hello", "answers": ["Hi!", "Hey"], "last": "Hi!"}\r\n\n{"question": "a", "answers": ["b"]}\n'
    records = st.fixed_dictionaries(
        {"question": texts | json_values, "answers": st.lists(texts, max_size=3) | json_values},
        optional={"last": texts | json_values, "more": json_values},
    )
    files = damaged(seed.encode()) | st.lists(records.map(json.dumps), max_size=3).map(
        lambda rows: "\n".join(rows).encode()
    )

    def check(case):
        data, question, answer = case
        path.write_bytes(data)
        try:
            before = read_golden(path)
            added = add_to_golden(path, question, answer)
        except InputError as error:
            assert one_line(error)
            assert path.read_bytes() == data
            return
        after = read_golden(path)
        if not added:
            assert path.read_bytes() == data
        assert any(one.accepts(answer) for one in after if normalize(one.question) == normalize(question))
        assert {one.question for one in before} <= {one.question for one in after}

    fuzz(st.tuples(files, texts, texts), check, 0.05)


@pytest.fixture(scope="module")
def exported(run_copy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    Chatbot.load(run_copy)
    export(run_copy, folder / "run", "run")
    return folder / "run"


def test_damaged_exports(fuzz, exported, undamaged):
    """With their checksums, exports answer as before or not at all."""
    files = {path: path.read_bytes() for path in files_of(exported)}
    about = exported / "export.json"

    def check(case):
        path, data = case
        path.write_bytes(data)
        try:
            found = found_by(open_bot(exported))
        except InputError as error:
            assert one_line(error)
            return
        finally:
            path.write_bytes(files[path])
        assert found == undamaged

    any_bytes = st.sampled_from(sorted(files)).flatmap(lambda path: st.tuples(st.just(path), damaged(files[path])))
    any_json = changed(json.loads(files[about])).map(lambda value: (about, json.dumps(value).encode()))
    fuzz(any_bytes | any_json, check, 0.03)


def test_run_folders_of_any_size(fuzz, run_copy):
    """A model is not built before its weights are known to be of its size: strangers ask for no memory."""
    path = run_copy / "config.json"
    checksums = run_copy / "checksums.json"
    text, seal = path.read_bytes(), checksums.read_bytes()
    checksums.unlink()
    sizes = st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["num_layers", "d_model", "dff", "num_heads", "max_length"], numbers)
    )

    def check(changes):
        about = json.loads(text)
        about["config"] |= changes
        path.write_text(json.dumps(about))
        try:
            answers = Chatbot.load(run_copy).replies(["hello"], answer_by="generate")
        except InputError as error:
            assert one_line(error)
            return
        assert answers

    try:
        fuzz(sizes, check, 0.0005)
    finally:
        path.write_bytes(text)
        checksums.write_bytes(seal)
