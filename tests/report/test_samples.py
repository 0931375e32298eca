from keras_transformer.report.samples import samples

ASKED = {f"질문 {i}": [f"대답 {i}번", f"대답 {i}번"] for i in range(30)}


def right(number):
    return number % 3 == 0


def test_drawn_answers_do_not_depend_on_what_is_answered(make_evaluation):
    one, _ = samples(make_evaluation(ASKED, ["xyz"] * 30))
    other, _ = samples(make_evaluation(ASKED, [references[0] for references in ASKED.values()]))
    questions = [sample.question for sample in one]
    assert questions == [sample.question for sample in other] == sorted(questions, key=list(ASKED).index)
    assert len(questions) == 10 and questions != list(ASKED)[:10]
    assert {sample.chrf for sample in one} == {0}
    assert {sample.chrf for sample in other} == {100}
    assert one[0].references == ASKED[one[0].question][:1]


def test_the_worst_of_the_others_come_first(make_evaluation):
    answers = [f"대답 {i}번" if i % 2 else f"대답 {i}" if i % 4 else "xyz" for i in range(30)]
    drawn, worst = samples(make_evaluation(ASKED, answers))
    assert len(worst) == 5
    assert not {sample.question for sample in drawn} & {sample.question for sample in worst}
    left = [i for i in range(30) if f"질문 {i}" not in {sample.question for sample in drawn}]
    hopeless = [i for i in left if i % 4 == 0]
    partly = [i for i in left if i % 4 == 2]
    expected = (hopeless + partly)[:5]
    assert [sample.answer for sample in worst[: len(hopeless)]] == ["xyz"] * len(hopeless[:5])
    assert {sample.question for sample in worst} >= {f"질문 {i}" for i in expected[: len(hopeless)]}
    assert [sample.chrf for sample in worst] == sorted(sample.chrf for sample in worst)


def test_of_few_questions_all_are_drawn(make_evaluation):
    drawn, worst = samples(make_evaluation({"a": ["b"], "c": ["d"]}, ["b", "x"]))
    assert [(sample.question, sample.answer, sample.chrf) for sample in drawn] == [("a", "b", 100), ("c", "x", 0)]
    assert worst == []
