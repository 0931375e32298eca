import pytest

from benchmarks import exports
from benchmarks.corpus import SMALL_TALK
from keras_transformer import Chatbot, InputError, load_pairs

pytestmark = pytest.mark.heavy


@pytest.mark.slow
def test_each_way_of_writing_a_format_has_a_row(small_run, results):
    exports.main([str(small_run), str(SMALL_TALK), "--questions", "40", "--formats", "run", "--results", str(results)])
    rows = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| run")]
    assert [row.split(" | ")[0] for row in rows] == ["| run", "| run, quantization int8"]
    assert rows[0].split(" | ")[1] == "40 of 40"
    assert all(row.count("–") == 4 for row in rows)


def test_questions_are_drawn_evenly_and_each_once(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"q{i % 60}\ta{i}\n" for i in range(120)), "utf-8")
    drawn = exports.draw([tmp_path / "a.tsv", SMALL_TALK], 81)
    assert len(drawn) == len(set(drawn)) == 81
    assert sum(question in set(load_pairs(SMALL_TALK)["question"]) for question in drawn) == 40
    assert drawn == exports.draw([tmp_path / "a.tsv", SMALL_TALK], 81)
    with pytest.raises(InputError, match=r"a\.tsv: has 60 different questions, not 100"):
        exports.draw([tmp_path / "a.tsv"], 100)


@pytest.mark.slow
def test_answers_that_are_not_the_runs_are_counted(small_run):
    bot = Chatbot.load(small_run)

    def answers(questions):
        return [("틀림" if question == "hello" else bot.reply(question), 0.0) for question in questions]

    equal, *times = exports.measure(answers, bot, ["hello", "bye", "잘 자"] * 11)
    assert equal == 22
    assert all(len(found) == exports.ROUNDS and min(found) > 0 for found in times)
