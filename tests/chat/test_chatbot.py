import shutil
import threading

import numpy as np
import pytest

from keras_transformer import Beam, Chatbot, Config, GenerationConfig, InputError, Sampling, Tokenizer
from keras_transformer.chat.answering import Answering
from keras_transformer.decoding import beam_search, loop
from keras_transformer.decoding.generate import _programs
from keras_transformer.decoding.phrases import Phrases
from keras_transformer.runs.run import Run

QUESTIONS = ["잘 자", "hello", "", "고마워!", "good night", "배고파", "   ", "bye", "안녕하세요"]
ANSWERS = [
    "좋은 꿈 꾸세요.",
    "Hi there!",
    "",
    "천만에요.",
    "Sleep well.",
    "밥 먹어요.",
    "",
    "See you soon!",
    "반가워요!",
]
HI = Phrases(["hi"])


@pytest.fixture(scope="module")
def bot(small_run):
    return Chatbot.load(small_run)


def test_it_answers_what_it_learnt_in_the_order_asked(bot):
    assert bot.replies(QUESTIONS) == ANSWERS


def test_one_question_alone_is_answered_as_among_others(bot):
    assert [bot.reply(question) for question in QUESTIONS] == ANSWERS


def test_more_questions_than_a_batch_holds_keep_their_order(bot):
    assert bot.replies(QUESTIONS * 20) == ANSWERS * 20


def test_a_stream_joins_to_the_reply(bot):
    for question, answer in zip(QUESTIONS, ANSWERS):
        pieces = list(bot.stream(question))
        assert "".join(pieces) == answer
        assert all(pieces)
        assert "\ufffd" not in "".join(pieces)
    assert len(list(bot.stream("good night"))) > 1


def test_no_questions_have_no_answers(bot):
    assert bot.replies([]) == []


def test_a_question_of_any_length_has_an_answer(bot):
    assert isinstance(bot.reply("hello " * 2000), str)


def test_a_stream_never_shows_half_a_character(bot, monkeypatch):
    """An answer spelled in bytes: each character appears when its last byte has come, none before."""
    import numpy as np

    text = "뷁 😀"
    ids = bot.tokenizer.encode(text)
    assert len(ids) > 7

    def begin(model, inputs, config, tokens):
        state = {"ids": np.zeros((1, bot.max_length), int), "ended": np.array([False]), "scores": [0.0]}

        def advance(state, tokens):
            made = np.zeros((1, bot.max_length), int)
            made[0, :tokens] = [*ids, bot.tokenizer.end_id][:tokens]
            return {"ids": made, "ended": np.array([tokens > len(ids)]), "scores": [0.0]}

        return state, advance

    monkeypatch.setattr("keras_transformer.decoding.generate.begin", begin)
    monkeypatch.setattr("keras_transformer.chat.chatbot.SECONDS_A_PIECE", 0)  # A token at a time.
    pieces = list(bot.stream("hello"))
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)


def test_several_answers_come_the_best_first(bot):
    three = GenerationConfig(Beam(3), num_return=3)
    for question, answer, found in zip(QUESTIONS, ANSWERS, bot.n_best(QUESTIONS, three)):
        assert len(found) == 3
        assert found[0][0] == answer
        if question.strip():
            assert len({text for text, _ in found}) > 1
        else:
            assert found == [("", 0.0)] * 3


def test_of_several_answers_the_first_is_the_reply(bot):
    for strategy in (Beam(3), Sampling(seed=4)):
        three = GenerationConfig(strategy, num_return=3, max_length=9)
        [[(best, _), *_]] = bot.n_best(["hello"], three)
        assert bot.reply("hello", generation=three) == "".join(bot.stream("hello", generation=three)) == best


def test_a_strategy_is_short_for_a_generation_and_stands_beside_none(bot):
    one = Sampling(temperature=3.0, seed=5)
    assert bot.reply("hello", one) == bot.reply("hello", generation=GenerationConfig(one))
    for ask in (bot.reply, lambda *how, **more: list(bot.stream(*how, **more))):
        with pytest.raises(InputError, match="strategy and generation are both given: put the strategy into"):
            ask("hello", Beam(2), generation=GenerationConfig())


def test_a_stream_of_a_beam_search_is_its_answer(bot):
    assert list(bot.stream("잘 자", Beam(3))) == ["좋은 꿈 꾸세요."]
    assert list(bot.stream("", Beam(3))) == []


def test_settings_reach_every_way_of_asking(bot):
    one = bot.tokenizer.encode("Hi")[0]
    for ask in (bot.reply, lambda question, **how: "".join(bot.stream(question, **how))):
        assert len(bot.tokenizer.encode(ask("hello", generation=GenerationConfig(max_length=2)))) <= 2
        assert "Hi" not in ask("hello", generation=GenerationConfig(forbidden_ids=[one]))
    with pytest.raises(InputError, match="temperature must be above 0"):
        bot.reply("hello", Sampling(temperature=-1))


@pytest.mark.parametrize("settings", [{}, {"strategy": Beam(2)}, {"strategy": Sampling(seed=1)}], ids=str)
@pytest.mark.variants(2)
def test_after_the_warm_up_nothing_is_compiled(bot, settings, monkeypatch):
    bot.warm_up(threading.Event(), GenerationConfig(**settings))
    tracing = []
    for module in (loop, beam_search):
        for name in ("start", "advance"):
            monkeypatch.setattr(module, name, lambda *_: tracing.append("a program"))
    for question in ("hi", "안녕하세요 " * 3, "hello " * 100):
        assert "".join(bot.stream(question, **settings))
    assert not tracing


def test_a_warm_up_can_be_stopped(bot):
    stop = threading.Event()
    stop.set()
    before = len(_programs.get(bot.model, {}))
    bot.warm_up(stop, GenerationConfig(Sampling(temperature=0.123)))
    assert len(_programs.get(bot.model, {})) == before


def test_a_stream_never_shows_a_syllable_before_its_last_letter(bot, monkeypatch):
    """An answer in letters of Hangul: 하 may yet become 한, so it is shown when the next letter says that it stays."""
    letters = Tokenizer.train(["한 하루"], kind="character", jamo=True)
    ids = [*letters.encode("하한 하"), letters.end_id]

    def begin(model, inputs, config, tokens):
        return {"ids": np.zeros((1, len(ids)), int), "ended": [False], "scores": [0.0]}, advance

    def advance(state, tokens):
        state["ids"][0, :tokens] = ids[:tokens]
        return {"ids": state["ids"], "ended": [tokens == len(ids)], "scores": [0.0]}

    monkeypatch.setattr("keras_transformer.decoding.generate.begin", begin)
    monkeypatch.setattr("keras_transformer.chat.chatbot.SECONDS_A_PIECE", 0)
    assert list(Chatbot(bot.model, bot.tokenizer, 24, letters).stream("hi")) == ["하", "한", " ", "하"]


def test_lines_of_a_question_are_turns(bot):
    tokenizer = Tokenizer.train(["abc"], kind="character", separator=True)
    assert Chatbot(bot.model, tokenizer, 9, turns=2).ids_of(["c\na\nb", "a", " \n"]) == [
        [2, *tokenizer.encode("a"), 4, *tokenizer.encode("b"), 3], [2, *tokenizer.encode("a"), 3], [],
    ]  # fmt: skip


@pytest.fixture
def taught(small_run, tmp_path):
    """A chatbot of its own, which may be taught."""
    shutil.copytree(small_run, tmp_path / "run")
    return Chatbot.load(tmp_path / "run")


def test_each_way_of_answering(taught):
    [generated], [found] = (taught.answers(["hello"], answer_by=way) for way in ("generate", "retrieve"))
    assert (generated.text, generated.answered_by, found.text, found.answered_by) == (
        "Hi there!", "generate", "Hi there!", "retrieve",
    )  # fmt: skip
    assert generated.score < 0
    assert found.score is None
    assert found.sources[0].exchange.question.startswith("hello")
    assert len(generated.sources) == len(found.sources) == 3
    taught.answering = Answering("hybrid", 0.5)
    near, far = taught.answers(["hello", "완전히 다른 말"])
    assert (near.answered_by, far.answered_by) == ("retrieve", "generate")
    assert taught.answers(["hello"], generation=GenerationConfig(Sampling(seed=1)))[0].composed


def test_the_model_is_loaded_when_the_first_answer_is_generated(small_run, tmp_path):
    shutil.copytree(small_run, tmp_path / "run")
    weights = tmp_path / "run" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    bot = Chatbot.load(tmp_path / "run")
    assert bot.reply("hello", answer_by="retrieve") == "Hi there!"
    for _ in range(2):
        with pytest.raises(InputError, match=r"weights\.safetensors: damaged"):
            bot.reply("hello")
    weights.unlink()
    with pytest.raises(InputError, match=r"weights\.safetensors: missing; no epoch has ended yet"):
        Chatbot.load(tmp_path / "run")


def test_the_answer_at_the_end_of_a_stream(taught):
    def ended(*arguments, **how):
        answer = yield from taught.stream(*arguments, **how)
        yield answer

    for how in ({}, {"answer_by": "retrieve"}, {"generation": GenerationConfig(Beam(2))}):
        *pieces, answer = ended("hello", **how)
        [expected] = taught.answers(["hello"], **how)
        assert ("".join(pieces), answer.text, answer.sources) == ("Hi there!", "Hi there!", expected.sources)
        assert (answer.score, answer.answered_by) == (pytest.approx(expected.score, abs=1e-3), expected.answered_by)
    assert list(ended(" ")) == [taught.answers([""])[0]]


def test_what_was_taught_answers_in_every_way_and_is_forgotten_again(taught):
    before = taught.answers(["hello", "hello!!", "잘 자"])
    taught.datastore.teach("hello", "Howdy!")
    for way in ("generate", "retrieve", None):
        assert taught.reply("hello", answer_by=way) == "Howdy!"
    assert list(taught.stream("hello")) == ["Howdy!"]
    assert taught.n_best(["hello"])[0][0][0] == "Hi there!"
    taught.datastore.forget("hello")
    assert taught.answers(["hello", "hello!!", "잘 자"]) == before


@pytest.mark.parametrize("strategy", [None, Beam(3), Sampling(seed=1)], ids=["greedy", "beams", "sampling"])
@pytest.mark.variants(2)
def test_a_forbidden_word_is_not_generated(bot, strategy):
    forbidding = GenerationConfig(strategy, forbidden=("꿈", "HI"))
    for ask in (bot.reply, lambda question, **how: "".join(bot.stream(question, **how))):
        assert "꿈" not in ask("잘 자", generation=forbidding)
        assert not HI.occur_in(ask("hello", generation=forbidding))  # It may be a longer word, such as "Hii".
        assert ask("bye", generation=forbidding) == "See you soon!"


def test_a_forbidden_word_is_not_retrieved(taught):
    taught.answering = Answering("retrieve")
    forbidding = GenerationConfig(forbidden=["Hi"])
    assert taught.way(generation=forbidding) == "retrieve"
    hello, bye = taught.answers(["hello", "bye"], generation=forbidding)
    assert bye.answered_by == "retrieve"
    assert hello.answered_by == "generate"  # No other exchange has a similar question.
    for text in (hello.text, *(source.exchange.answer for source in hello.sources)):
        assert not HI.occur_in(text)
    assert not HI.occur_in("".join(taught.stream("hello", generation=forbidding)))


def test_a_similar_exchange_answers_for_one_with_a_forbidden_word(taught):
    taught.datastore.teach("hello!", "Howdy!")
    taught.datastore.teach("hello", "Hi!")
    asked = {"answer_by": "retrieve", "generation": GenerationConfig(forbidden=["hi"])}
    assert taught.reply("hello", answer_by="retrieve") == "Hi!"
    [answer] = taught.answers(["hello"], **asked)
    assert (answer.text, answer.answered_by) == ("Howdy!", "retrieve")
    assert "".join(taught.stream("hello", **asked)) == "Howdy!"


def test_a_required_word_is_in_every_answer(bot):
    requiring = GenerationConfig(required=("꿈", "HI"))
    for ask in (bot.reply, lambda question, **how: "".join(bot.stream(question, **how))):
        for question in ("잘 자", "hello", "bye"):
            answer = ask(question, generation=requiring)
            assert "꿈" in answer
            assert HI.occur_in(answer)
    [best, *others] = bot.n_best(["hello"], GenerationConfig(Beam(4), 3, required=("hi",)))[0]
    assert best[0] == "Hi there!"
    assert all(HI.occur_in(text) for text, _ in others)


def test_an_answer_with_the_required_words_is_retrieved(taught):
    asked = {"answer_by": "retrieve", "generation": GenerationConfig(required=["well"])}
    night, hello = taught.answers(["good night", "hello"], **asked)
    assert (night.text, night.answered_by) == ("Sleep well.", "retrieve")
    assert hello.answered_by == "generate"
    assert Phrases(["well"]).occur_in(hello.text)
    assert {source.exchange.answer for source in night.sources} == {"Sleep well."}


def test_required_words_that_do_not_fit_show_before_an_answer_is_retrieved(taught):
    many = GenerationConfig(required=[f"{number} times" for number in range(9)])
    with pytest.raises(InputError, match="max_length 23 is too small for the required words"):
        taught.answers(["hello"], answer_by="retrieve", generation=many)


def test_a_memorized_corpus_is_unsure_where_the_answer_is_forbidden(taught):
    """It does not make up another."""
    taught.memorized = True
    [answer] = taught.answers(["hello"], answer_by="retrieve", generation=GenerationConfig(forbidden=["Hi"]))
    assert (answer.answered_by, answer.unsure) == ("retrieve", True)
    assert "Hi" not in answer.text


def test_a_memorized_corpus_has_no_answer_to_what_is_like_nothing_known(taught):
    """What the model would generate is ungrammatical."""
    taught.memorized = True
    unlike, blank, known = taught.answers(["漢字", " ", "hello"], answer_by="retrieve")
    assert (unlike.text, unlike.answered_by, unlike.unsure, unlike.sources) == ("", "retrieve", True, ())
    assert (blank.text, blank.unsure, known.text) == ("", False, "Hi there!")
    assert list(taught.stream("漢字", answer_by="hybrid")) == []
    assert taught.answers(["漢字"], answer_by="generate")[0].composed
    taught.memorized = False
    assert taught.answers(["漢字"], answer_by="retrieve")[0].composed


def test_what_cannot_be_answered_so_is_refused(taught, bot):
    with pytest.raises(InputError, match="answers by retrieve: leave out the decoding settings"):
        taught.reply("hello", Beam(2), answer_by="retrieve")
    with pytest.raises(InputError, match="unknown way of answering 'guess'"):
        taught.reply("hello", answer_by="guess")
    bare = Chatbot(bot.model, bot.tokenizer, bot.max_length)
    assert bare.answers(["hello"])[0].sources == ()
    with pytest.raises(InputError, match="no datastore to hybrid from"):
        bare.reply("hello", answer_by="hybrid")


def test_runs_with_one_tokenizer_answer_together(small_run, bot):
    both = Chatbot.ensemble([small_run, small_run])
    assert both.replies(QUESTIONS) == ANSWERS
    assert "".join(both.stream("good night")) == "Sleep well."
    (alone,), (together,) = bot.n_best(["bye"]), both.n_best(["bye"])
    assert together[0][1] == pytest.approx(alone[0][1], abs=1e-5)
    assert both.datastore is None


def test_runs_with_other_tokenizers_do_not_answer_together(small_run, tmp_path):
    other = Run.create(tmp_path / "other", Config(d_model=8), Tokenizer.train(["가나다 abc"], 300), {"name": "none"})
    with pytest.raises(InputError, match=r"other: has another tokenizer than .*; runs that answer together"):
        Chatbot.ensemble([small_run, other.path])
