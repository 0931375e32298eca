"""Reading corpora: what is understood, what is left out and named, and what is refused with advice."""

import csv
import pathlib
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_transformer.data.corpus import load_pairs
from keras_transformer.data.loading import CorpusWarning, read_chunks
from keras_transformer.errors import InputError

REAL_CORPUS = pathlib.Path(__file__).parents[3] / "shared" / "corpora" / "chatbot_ko" / "ChatbotData.csv"

PAIRS = [("안녕?", "반가워요."), ("How are you?", "Fine, thanks.")]


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def read(*args, **kwargs):
    """The pairs as tuples."""
    return list(load_pairs(*args, **kwargs).itertuples(index=False, name=None))


def faults(path, **kwargs):
    """The pairs as tuples, and what the warning says after the file's name."""
    with pytest.warns(CorpusWarning) as caught:
        pairs = read(path, **kwargs)
    (warning,) = caught
    return pairs, str(warning.message).removeprefix(f"{path}: ")


def refusal(*args, **kwargs):
    """The message of the refusal, which is one line."""
    with pytest.raises(InputError) as caught:
        load_pairs(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is understood


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chat.csv", 'Q,A,label\n안녕?,반가워요.,0\nHow are you?,"Fine, thanks.",0\n'),
        ("CHAT.CSV", 'id,Answer, QUESTION \n1,반가워요.,안녕?\n2,"Fine, thanks.",How are you?\n'),
        ("chat.csv", '안녕?,반가워요.\nHow are you?,"Fine, thanks."\n'),
        ("chat.tsv", "질문\t답변\n안녕?\t반가워요.\nHow are you?\tFine, thanks.\n"),
        ("chat.txt", "안녕?\t반가워요.\nHow are you?\tFine, thanks.\n"),
        ("chat.csv", ' 안녕?\t, 반가워요. \n\n   \nHow are you?,"Fine, thanks.\n"\n'),
        ("chat.jsonl", '{"Q": "안녕?", "A": "반가워요."}\n\n{"A": "Fine, thanks.", "Q": "How are you?", "n": 1}\n'),
        ("chat.ndjson", '{"질문": "\\uc548녕?", "답": "반가워요."}\n{"질문": "How are you?", "답": "Fine, thanks."}'),
    ],
    ids=["header", "other order and case", "no header", "tsv", "txt", "blanks", "jsonl", "ndjson"],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_reads(tmp_path, name, text, line_end):
    path = write(tmp_path, name, text.replace("\n", line_end))
    assert read(path) == PAIRS
    assert read(str(path)) == PAIRS
    assert read([path]) == PAIRS


@pytest.mark.parametrize(
    "header",
    [
        "question,answer", "Questions,Answers", "q,a", "query,reply", "input,output", "inputs,outputs", "source,target",
        "src,tgt", "prompt,completion", "질문,답", "입력,출력", "질문,대답", "질문,응답", "\u110c\u1175\u11af문,답변",
    ],
)  # fmt: skip
def test_known_column_names(tmp_path, header):
    assert read(write(tmp_path, "a.csv", f"{header}\n안녕?,반가워요.\n")) == [("안녕?", "반가워요.")]


def test_plainest_name_wins(tmp_path):
    path = write(tmp_path, "a.csv", "source,question,answer\nwww,안녕?,반가워요.\n")
    assert read(path) == [("안녕?", "반가워요.")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "질문,ask,tell\nx,안녕?,반가워요.\n"),
        ("a.jsonl", '{"질문": "x", "ask": "안녕?", "tell": "반가워요."}\n'),
    ],
)
def test_columns_by_name(tmp_path, name, text):
    path = write(tmp_path, name, text)
    assert read(path, question="ask", answer="tell") == [("안녕?", "반가워요.")]
    assert "no column named 'asks'; there are 질문, ask, tell" in refusal(path, question="asks", answer="tell")


def test_parallel_files(tmp_path):
    questions = write(tmp_path, "train.q", "안녕?\n\nHow are you?\n")
    answers = write(tmp_path, "train.a", '반가워요.\r\n \r\n"Fine", thanks.')
    assert read((questions, answers)) == [("안녕?", "반가워요."), ("How are you?", '"Fine", thanks.')]


def test_result_is_a_frame(tmp_path):
    pairs = load_pairs(write(tmp_path, "a.csv", "Q,A,label\n안녕?,반가워요.,0\n1,2,0\n"))
    assert list(pairs.columns) == ["question", "answer"]
    assert list(pairs.index) == [0, 1]
    assert pairs["answer"][1] == "2"


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('"두 줄\n인사"', "두 줄\n인사"),
        ('"두 줄\r\n인사"', "두 줄\r\n인사"),
        ('"그는 ""네"" 했다"', '그는 "네" 했다'),
        ('5" screen', '5" screen'),
        ("NA", "NA"),
        ("a\u2028b\x0cc\x85d", "a\u2028b\x0cc\x85d"),
        ("가" * 200_000, "가" * 200_000),
    ],
    ids=["LF inside", "CRLF inside", "doubled quotes", "stray quote", "NA", "not line ends", "long"],
)
def test_cells(tmp_path, cell, value):
    limit = csv.field_size_limit()
    assert read(write(tmp_path, "a.csv", f"Q,A\n{cell},ok\nb,네\n")) == [(value, "ok"), ("b", "네")]
    assert csv.field_size_limit() == limit


TEXT = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1).map(str.strip).filter(bool)
)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_what_csv_writes_comes_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("corpus") / "a.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("question", "answer"), *pairs])
    assert read(path) == pairs


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
def test_mark_at_the_start_is_no_text(tmp_path, encoding, mark):
    path = write(tmp_path, "a.csv", f"{mark}Q,A\n안녕?,반가워요.\n")
    assert read(path, encoding=encoding) == [("안녕?", "반가워요.")]


@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
def test_other_encodings(tmp_path, encoding):
    path = write(tmp_path, "a.csv", "Q,A\r\nhi,hello\r\n안녕?,반가워요.\r\n", encoding)
    assert read(path, encoding=encoding) == [("hi", "hello"), ("안녕?", "반가워요.")]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.txt", "\t")])
@pytest.mark.parametrize("encoding", ["cp949", "euc-kr", "utf-16"])
def test_other_encodings_are_found(tmp_path, encoding, name, separator):
    path = write(tmp_path, name, f"Q{separator}A\r\nhi{separator}hello\r\n안녕?{separator}반가워요.\r\n", encoding)
    pairs, remark = faults(path)
    assert pairs == [("hi", "hello"), ("안녕?", "반가워요.")]
    assert remark == f"not UTF-8; read as {'UTF-16' if encoding == 'utf-16' else 'CP949'}"


def test_parallel_files_may_differ_in_their_encodings(tmp_path):
    paths = [write(tmp_path, "a.ko", "안녕?\n", "cp949"), write(tmp_path, "a.en", "“Hi.”\n")]
    with pytest.warns(CorpusWarning, match=rf"^{paths[0]}: not UTF-8; read as CP949$"):
        assert read(paths) == [("안녕?", "“Hi.”")]


NEITHER = "line 2 is not UTF-8: correct it, or give the encoding of the file with --encoding"


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        ("Q,A\r\nhi,hello\r\n안녕?,네\r\n".encode("cp949"), "utf-8",
         "line 3 is not UTF-8; the file is cp949: give --encoding cp949, or no --encoding"),
        ("Q,A\n안녕?,네\n".encode("utf-16"), "utf-8",
         "line 1 is not UTF-8; the file is utf-16: give --encoding utf-16, or no --encoding"),
        (b"Q,A\rhi,\xff\xff\r", None, NEITHER),
        (b"\xef\xbb\xbfQ,A\nhi,\xff\xff\n", None, NEITHER),
        ("Q,A\n안녕?,반가\xff워요.\n".encode().replace(b"\xc3\xbf", b"\xff"), None, NEITHER),
        ("Q,A\n안녕?,네\n".encode("utf-16")[:-1], None,
         "line 2 is not utf-16: give the file's encoding with --encoding"),
        ("Q,A\nhi,안\n".encode(), "ascii", "line 2 is not ascii: give the file's encoding with --encoding"),
    ],
    ids=["cp949", "utf-16", "unknown", "marked", "damaged", "cut", "given"],
)  # fmt: skip
def test_wrong_encoding(tmp_path, data, encoding, message):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert refusal(path, encoding=encoding) == f"{path}: {message}"


@pytest.mark.parametrize("encoding", ["utf-99", "hex"])
def test_unknown_encoding(tmp_path, encoding):
    assert f"no text encoding is named '{encoding}'" in refusal(write(tmp_path, "a.csv", "안녕?,네"), encoding=encoding)


# What is left out


def test_reports_rows_by_their_line(tmp_path):
    text = 'Q,A,label\n"안\n녕?",네,0\n\n안녕?,,0\n , 네,0\n잘 지내?\na,b,c,d\nhi,hello,0\n'
    pairs, report = faults(write(tmp_path, "a.csv", text))
    assert pairs == [("안\n녕?", "네"), ("hi", "hello")]
    assert report == (
        "4 of 6 rows left out: row 5: no answer; row 6: no question; "
        "row 7: 1 column instead of 3; row 8: 4 columns instead of 3 (quote cells with commas)"
    )
    _, report = faults(write(tmp_path, "a.tsv", "Q\tA\n안녕?\t네\na\tb\tc\n"))
    assert report == "1 of 2 rows left out: row 3: 3 columns instead of 2"


@pytest.mark.parametrize(
    "lost",
    [
        '"안녕?,네',
        '"안녕?","네',
        '"안녕?"네,네',
        'hi,"hello',
        'hi,""hello"',
    ],
    ids=["unclosed", "unclosed last", "text after", "unclosed second", "doubled"],
)
@pytest.mark.parametrize("after", ["", 'b,네\n"c","예\n예"\n', '"c","예\n예"\nb,네\n', 'b,5" 네\nc,d"\n'])
def test_broken_quotes_lose_one_row(tmp_path, lost, after):
    expected = read(write(tmp_path, "good.csv", f"Q,A\na,응\n{after}"))
    pairs, report = faults(write(tmp_path, "bad.csv", f"Q,A\na,응\n{lost}\n{after}"))
    assert pairs == expected
    assert report == f"1 of {len(expected) + 1} rows left out: row 3: broken quotes"


def test_quote_that_swallows_rows_loses_one(tmp_path):
    # As csv reads it, the quote of row 2 closes in row 4, and the three rows are one of a single cell.
    pairs, report = faults(write(tmp_path, "a.csv", 'Q,A\n"안녕?,네\nhi,hello\nb,5"\nc,응\n'))
    assert pairs == [("hi", "hello"), ("b", '5"'), ("c", "응")]
    assert report == "1 of 4 rows left out: row 2: broken quotes"


def test_many_broken_quotes_take_linear_time(tmp_path):
    # Each row opens a quote inside which all others fit: reading on from each to the end would take minutes.
    path = write(tmp_path, "a.csv", "Q,A\nhi,hello\n" + '안녕","네\n' * 30_000)
    start = time.perf_counter()
    pairs, report = faults(path)
    assert time.perf_counter() - start < 60
    assert pairs == [("hi", "hello")]
    assert report.startswith("30000 of 30001 rows left out: row 3: broken quotes; row 4: broken quotes; ")
    assert report.endswith("row 12: broken quotes; … and 29990 more")


def test_nul(tmp_path):
    pairs, report = faults(write(tmp_path, "a.csv", "Q,A,label\n안\0녕?,네,0\na,b,\0\nhi,hello,0\n"))
    assert pairs == [("hi", "hello")]
    assert report == "2 of 3 rows left out: row 2: NUL character; row 3: NUL character"


def test_bad_json_lines(tmp_path):
    lines = [
        '{"Q": "안녕?", "A": ',
        '{"Q": "안녕?", "A": "네"}',
        '["안녕?", "네"]',
        '{"Q": "안녕?", "A": 1}',
        '{"Q": false, "A": "네"}',
        '{"Q": "안녕?", "A": null}',
        '{"A": "네"}',
        '{"Q": "안녕?", "A": " "}',
        '{"Q": "\\ud83d", "A": "네"}',
        '{"Q": "안녕?", "A": "\\u0000"}',
        "[" * 100_000,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        assert read(write(tmp_path, "a.jsonl", "\n".join(lines))) == [("안녕?", "네")]
    path = write(tmp_path, "a.jsonl", "\n".join(lines))
    assert faults(path)[1] == (
        "10 of 11 rows left out: row 1: not JSON; row 3: not a JSON object; row 4: answer is not a string; "
        "row 5: question is not a string; row 6: no answer; row 7: no question; row 8: no answer; "
        "row 9: question contains half a character; row 10: NUL character; row 11: not JSON"
    )


def test_parallel_files_with_a_gap(tmp_path):
    questions = write(tmp_path, "train.q", "안녕?\n\nHow are you?\nb\n")
    answers = write(tmp_path, "train.a", "반가워요.\nyes\n\n네\n")
    with pytest.warns(CorpusWarning) as caught:
        assert read([questions, answers]) == [("안녕?", "반가워요."), ("b", "네")]
    report = "2 of 4 rows left out: row 2: no question; row 3: no answer"
    assert str(caught[0].message) == f"{questions} + {answers}: {report}"


def test_warning_points_to_the_caller(tmp_path):
    with pytest.warns(CorpusWarning) as caught:
        load_pairs(write(tmp_path, "a.csv", "Q,A\n안녕?,네\nhi,\n"))
    assert caught[0].filename == __file__


# What is refused


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,text,label\n1,안녕?,0\n", "no known question or answer column among id, text, label; name the "
         "columns with --question and --answer"),
        ("a.csv", "1,안녕,네\n2,잘 자,너도\n",
         "row 1 looks like data and not like a header (1, 안녕, 네): add a header "
         "above it, 3 names with question and answer among them; if it is a header, name the columns with --question"),
        ("a.tsv", "\n안녕?\t네.\t인사\n",
         "row 2 looks like data and not like a header (안녕?, 네., 인사): add a header"),
        ("a.csv", "No.,내용,\n1,안녕?,네\n", "no known question or answer column among No., 내용, ; name"),
        ("a.csv", "0,1,2\n1,안녕?,네\n", "no known question or answer column among 0, 1, 2; name"),
        ("a.csv", "안녕?/네\n", "no known question or answer column among 안녕?/네; name"),
        ("a.csv", "질문,text\n안녕?,네\n", "no known answer column among 질문, text; name"),
        ("a.csv", "text,답변\n안녕?,네\n", "no known question column among text, 답변; name"),
        ("a.csv", ",".join("bcdefghijklmn"), "among b, c, d, e, f, g, h, i, j, k, … and 3 more; name"),
        ("a.csv", "x" * 100 + ",y,z", "among " + "x" * 59 + "…, y, z; name"),
        ("a.jsonl", '{"ask": "안녕?", "tell": "네"}', "no known question or answer column among ask, tell; name"),
        ("a.csv", '"Q,A\n안녕?,네\n', "row 1: broken quotes, but the first row must name the columns"),
        ("a.csv", "", "no question-answer pair in it"),
        ("a.csv", "Q,A\n\n", "no question-answer pair in it"),
        ("a.csv", "Q,A\n안녕?,\n,네\n", "no question-answer pair in it (row 2: no answer)"),
        ("a.jsonl", "안녕?\n", "no question-answer pair in it (row 1: not JSON)"),
        ("a.docx", "", "must end in one of .csv, .tsv, .txt, .json, .jsonl, .ndjson"),
        ("a", "", "must end in one of .csv, .tsv, .txt, .json, .jsonl, .ndjson"),
    ],
)  # fmt: skip
def test_refuses(tmp_path, name, text, message):
    path = write(tmp_path, name, text)
    assert refusal(path).startswith(f"{path}: ")
    assert message in refusal(path)


def test_missing_file(tmp_path):
    assert refusal(tmp_path / "a.csv") == f"{tmp_path / 'a.csv'}: no such file"


@pytest.mark.parametrize("name", ["folder", "folder.csv"])
def test_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    assert refusal(tmp_path / name).startswith(f"{tmp_path / name}: no corpus file in this folder; its name must end")
    with pytest.raises(InputError, match=": a folder, not a file"):
        next(read_chunks(tmp_path / name))


def test_unreadable_file(tmp_path):
    path = tmp_path / "a.csv"
    path.symlink_to(path)  # A loop, which even root cannot read.
    assert refusal(path).startswith(f"{path}: cannot be read: ")


def test_parallel_files_of_different_length(tmp_path):
    questions, answers = write(tmp_path, "q.txt", "안녕?\nhi\n"), write(tmp_path, "a.txt", "네\nhello\nbye\n")
    assert f"{questions} has 2 lines and {answers} has 3" in refusal([questions, answers])


def test_columns_of_parallel_files(tmp_path):
    paths = [write(tmp_path, "q.txt", "안녕?"), write(tmp_path, "a.txt", "네")]
    assert "two parallel text files have no columns" in refusal(paths, question="q", answer="a")


@pytest.mark.parametrize("count", [0, 3])
def test_number_of_files(tmp_path, count):
    assert refusal([tmp_path / "a.txt"] * count).endswith(f"two parallel text files, not {count}")


@pytest.mark.parametrize("names", [{"question": "Q"}, {"answer": "A"}])
def test_one_name_alone(tmp_path, names):
    assert refusal(write(tmp_path, "a.csv", "Q,A\n안녕?,네\n"), **names) == (
        "give both --question and --answer, or neither"
    )


# The published corpus


@pytest.mark.skipif(not REAL_CORPUS.exists(), reason="the corpora are not beside the repository, in ../shared/corpora")
def test_published_corpus():
    pairs = load_pairs(REAL_CORPUS)
    assert len(pairs) == 11_823
    assert tuple(pairs.iloc[0]) == ("12시 땡!", "하루가 또 가네요.")


def test_two_files_that_hold_pairs_are_not_taken_for_parallel_text(tmp_path):
    for name in ("train.csv", "valid.csv"):
        (tmp_path / name).write_text("question,answer\nhi,hello\n")
    with pytest.raises(InputError, match=r"train\.csv: contains pairs.*give this file alone"):
        load_pairs([tmp_path / "train.csv", tmp_path / "valid.csv"])


# Conversations


def test_each_turn_of_a_conversation_answers_those_before_it(tmp_path):
    lines = [
        '{"turns": ["안녕", "네", "뭐 해?", "공부"]}',
        '{"question": "q", "answer": "a"}',
        '{"turns": ["hi", "hello"]}',
    ]
    path = write(tmp_path, "talks.jsonl", "\n".join(lines))
    assert load_pairs(path, turns=2).to_numpy().tolist() == [
        ["안녕", "네", "안녕"], ["안녕\n네", "뭐 해?", "안녕"], ["네\n뭐 해?", "공부", "안녕"],
        ["q", "a", "q"], ["hi", "hello", "hi"],
    ]  # fmt: skip
    assert load_pairs(path)["question"].tolist() == ["안녕", "네", "뭐 해?", "q", "hi"]


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ('["a"]', "fewer than two turns"),
        ("[]", "fewer than two turns"),
        ('["a", 5]', "turn 2 is not a string"),
        ('["a", {"x": 1}]', "no turn 2"),
        ('["a", " ", "b"]', "no turn 2"),
    ],
)
def test_a_conversation_that_cannot_be_used_is_named(tmp_path, turns, problem):
    path = write(tmp_path, "talks.jsonl", f'{{"turns": ["a", "b"]}}\n{{"turns": {turns}}}')
    with pytest.warns(CorpusWarning, match=f"row 2: {problem}"):
        assert len(load_pairs(path)) == 1


def test_a_file_is_read_in_chunks(tmp_path, monkeypatch):
    path = write(tmp_path, "pairs.csv", "question,answer\n" + "".join(f"q{i},a{i}\n" for i in range(7)))
    monkeypatch.setattr("keras_transformer.data.loading.CHUNK", 3)
    assert [len(chunk) for chunk in read_chunks(path)] == [3, 3, 1]
    assert load_pairs(path)["question"].tolist() == [f"q{i}" for i in range(7)]
    assert load_pairs(path).index.tolist() == list(range(7))


def test_chunks_with_and_without_conversations_make_one_table(tmp_path, monkeypatch):
    lines = [*['{"question": "q", "answer": "a"}'] * 3, '{"turns": ["안녕", "네", "뭐 해?"]}']
    path = write(tmp_path, "a.jsonl", "\n".join([*lines, '{"question": "r", "answer": "b", "turns": []}']))
    monkeypatch.setattr("keras_transformer.data.loading.CHUNK", 2)
    assert load_pairs(path)["opening"].tolist() == ["q"] * 3 + ["안녕"] * 2 + ["r"]
