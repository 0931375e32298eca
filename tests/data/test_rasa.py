import pytest

from keras_transformer import InputError
from keras_transformer.data.rasa import UNANSWERED
from keras_transformer.data.readers import read_rows

PROJECT = {
    "config.yml": "language: ko\npipeline: []\n",
    "domain.yml": """\
version: "3.1"
intents: [greet, goodbye, order, faq]
responses:
  utter_greet:
  - text: 안녕하세요!
  - text: 반갑습니다.
  utter_goodbye:
  - text: "{name}님, 안녕히 가세요."
  - text: 밤에만
    condition: [{type: slot, name: night, value: true}]
  - text: 안녕히 가세요.
  utter_ask_size:
  - text: 크기는요?
""",
    "data/responses.yml": """\
responses:
  utter_faq/ask_hours:
  - text: 아홉 시에 엽니다.
    image: hours.png
""",
    "data/rules.yml": """\
rules:
- rule: 인사
  steps:
  - intent: greet
  - action: utter_greet
- rule: 자주 묻는 질문
  steps:
  - intent: faq
  - action: utter_faq
- rule: 낮의 주문
  condition:
  - slot_was_set: [{day: true}]
  steps:
  - intent: order
  - action: utter_ask_size
""",
    "data/stories.yml": """\
stories:
- story: 끝
  steps:
  - intent: goodbye
  - action: utter_goodbye
- story: 주문
  steps:
  - intent: greet
  - action: utter_greet
  - intent: order
  - action: action_order
""",
    "data/nlu/nlu.yml": """\
version: "3.1"
nlu:
- intent: greet
  examples: |
    - 안녕
    - [부산](city)에서 왔어요
    - 반가워 [여기]{"entity": "place", "role": "start"} [저기][{"entity": "a"}]
- intent: goodbye
  examples: |

    - 잘 가
    # no example
- synonym: 부산
  examples: |
    - 부산시
- intent: faq/ask_hours
  examples:
  - text: |
      몇 시에 열어요?
    metadata: {sentiment: neutral}
  - text: 언제 열어?
- intent: order
  examples: |
    - 주문할게요
""",
}


@pytest.fixture
def project(tmp_path):
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_examples_are_answered_by_the_texts_of_rules_and_responses(project):
    assert [row[:4] for row in read_rows(project / "data/nlu/nlu.yml")] == [
        (5, "안녕", "안녕하세요!", None),
        (6, "부산에서 왔어요", "반갑습니다.", None),
        (7, "반가워 여기 저기", "안녕하세요!", None),
        (11, "잘 가", "안녕히 가세요.", None),
        (18, "몇 시에 열어요?", "아홉 시에 엽니다.", None),
        (21, "언제 열어?", "아홉 시에 엽니다.", None),
        (24, None, None, UNANSWERED),
    ]


def test_more_texts_than_examples_are_all_answers(project):
    (project / "data/nlu/nlu.yml").write_text("nlu:\n- intent: greet\n  examples: |\n    - 안녕\n", encoding="utf-8")
    assert [row[:3] for row in read_rows(project / "data/nlu/nlu.yml")] == [
        (4, "안녕", "안녕하세요!"),
        (4, "안녕", "반갑습니다."),
    ]


def test_one_file_may_be_all_of_a_project(tmp_path):
    path = tmp_path / "bot.yaml"
    text = "nlu:\n- intent: faq/a\n  examples: |\n    - 뭐?\nresponses:\n  utter_faq/a:\n  - text: 답\n"
    path.write_text(text, encoding="utf-8")
    assert list(read_rows(path)) == [(4, "뭐?", "답", None, "뭐?")]


def test_an_error_names_the_file_of_the_project_that_has_it(project):
    (project / "data/rules.yml").write_text("rules:\n- rule: [\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"data/rules\.yml: line 3: not YAML: "):
        list(read_rows(project / "data/nlu/nlu.yml"))


def test_another_file_of_the_project_is_no_corpus(project):
    with pytest.raises(InputError, match=r"domain\.yml: neither .*; of a Rasa project, name the folder"):
        list(read_rows(project / "domain.yml"))


def test_marks_of_entities_that_never_end_take_linear_time(tmp_path):
    path = tmp_path / "nlu.yml"
    path.write_text(f"nlu:\n- intent: faq/a\n  examples: |\n    - {'[a](' * 30_000}\n    - {'[' * 100_000}\n"
                    "responses:\n  utter_faq/a:\n  - text: 답\n", encoding="utf-8")  # fmt: skip
    assert len(list(read_rows(path))) == 2
