import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows


def test_rows_are_pairs_or_say_why_not(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n 안녕? , 네\n잘 지내?,\n", encoding="utf-8")
    assert list(read_rows(path)) == [(2, "안녕?", "네", None, "안녕?"), (3, "잘 지내?", "", "no answer", "잘 지내?")]


@pytest.mark.parametrize(
    "header",
    [
        "Question,Answer", "prompt,response", "Instruction,Output", "input,output", "source,target", "Query,Reply",
        "request,response", "context,response", "utterance,response", "source,translation", "질문,답변", "질문,답",
        "물음,응답", "물음,대답", "질의,응답", "질의,답변", "문의,답변", "문의,회신", "질문 내용,답변 내용",
        "문의내용,답변내용", "문제,정답", "발화,응답", "입력,출력", "원문,번역문", "원문,번역",
    ],
)  # fmt: skip
def test_usual_names_of_columns_are_known(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f"번호,{header}\n1,안녕?,네\n", encoding="utf-8")
    assert list(read_rows(path)) == [(2, "안녕?", "네", None, "안녕?")]
    path.write_text(f"{','.join(header.split(',')[::-1])}\n네,안녕?\n", encoding="utf-8")
    assert list(read_rows(path)) == [(2, "안녕?", "네", None, "안녕?")]


def test_of_several_known_names_the_one_of_a_question_is_used(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("context,instruction,input,question,정답,answer\na,b,c,d,e,f\n", encoding="utf-8")
    assert list(read_rows(path)) == [(2, "d", "f", None, "d")]


@pytest.mark.parametrize(
    "header",
    [
        "quesiton,anwser",
        "Question Text,Answer Text",
        "question:,answer:",
        "고객 질문,상담원 답변",
        "손님질문,우리 답변",
        "replys,prompts",
    ],
)
def test_a_header_of_unknown_names_is_not_read_as_a_pair(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f"\n{header}\n안녕?,네\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.csv: row 2 looks like a header .* with --question and --answer"):
        list(read_rows(path))
    names = header.split(",")
    assert [row[1] for row in read_rows(path, *names)] == ["안녕?"]


@pytest.mark.parametrize("pair", ["q1,a1", "en,ko", "Any questions?,No answer.", "질문 하나 해도 돼,대답해 줄게"])
def test_a_first_pair_is_not_taken_for_a_header(tmp_path, pair):
    path = tmp_path / "a.tsv"
    path.write_text(pair.replace(",", "\t") + "\n안녕?\t네\n", encoding="utf-8")
    assert len(list(read_rows(path))) == 2


def test_encodings_that_are_not_of_files_are_one_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"question,answer\nhello\xff,there\n\\ud83d,there\n")
    with pytest.raises(InputError, match=r"pairs\.csv: cannot be read: 'ascii' codec"):
        list(read_rows(path, encoding="idna"))
    rows = list(read_rows(path, encoding="unicode_escape"))
    assert [row[3] for row in rows] == [None, "question contains half a character"]
