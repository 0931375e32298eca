"""When a run is not sure: shares of scores, thresholds, and what is said instead."""

import json

import numpy as np
import pytest

from keras_transformer import Beam, Chatbot, Confidence, GenerationConfig, InputError, Run, Sampling, calibrate
from keras_transformer.chat.answering import RETRIEVE, Answering
from keras_transformer.chat.confidence import decoding_settings, in_words, pieces_a_character

UNKNOWN = "그건 잘 모르겠어요."
NINETY_NINE = tuple(range(-99, 0))  # With a new one they are a hundred.


def made(scores=NINETY_NINE, pieces=None):
    """A confidence that knows these numbers; without pieces, all questions are cut alike."""
    return Confidence(tuple(zip(scores, pieces or [0.5] * len(scores))), {}, {}, "0")


def test_a_confidence_is_twice_the_share_of_answers_that_are_no_likelier():
    confidence = made()
    found = [confidence.of(score, 0.5) for score in (-1000, -99, -95, -94.5, -51, -50, 0)]
    assert found == [0.02, 0.04, 0.12, 0.12, 1, 1, 1]
    assert confidence.of(np.array([[-99.0], [-95.0]]), np.array([[0.5], [0.5]])).tolist() == [[0.04], [0.12]]


def test_or_twice_that_of_questions_that_are_cut_no_less_finely():
    confidence = made([-1] * 99, [number / 100 for number in range(1, 100)])
    assert [confidence.of(0, pieces) for pieces in (5, 0.99, 0.95, 0.945, 0.5, 0)] == [0.02, 0.04, 0.12, 0.12, 1, 1]
    assert confidence.of(-2, 0) == 0.02  # The smaller share counts.


@pytest.mark.parametrize(
    ("refusals", "least_score"), [(0.02, -99), (0.039, -99), (0.05, -98), (0.1, -95), (0.58, -71), (0.99, -51)]
)
def test_bounds_refuse_what_the_rate_says(refusals, least_score):
    confidence = made(pieces=[-score / 100 for score in NINETY_NINE])
    assert confidence.bounds(refusals) == (least_score, -least_score / 100)
    fallback = confidence.fallback(UNKNOWN, refusals)
    for number in (-200, -99.5, -99, -98, -97.5, -95.5, -95, -71.5, -71, -51, -1, 0):
        assert fallback.refuses(number, 0) == (confidence.of(number, 0) <= refusals)
        assert fallback.refuses(0, -number / 100) == (confidence.of(0, -number / 100) <= refusals)


def test_what_is_refused_of_its_own_kind_is_no_more_than_the_rate():
    """Whatever the numbers are like, and however few: over all choices of which one of them is new, exactly."""
    random = np.random.default_rng(3)
    for scores in (random.normal(size=41), random.exponential(size=100), random.integers(4, size=60)):
        for pieces in (np.zeros(len(scores)), random.random(len(scores)), -scores):
            numbers = list(zip(scores.tolist(), pieces.tolist()))
            for refusals in (0.05, 0.1, 0.5):
                refused = sum(
                    Confidence((*numbers[:i], *numbers[i + 1 :]), {}, {}, "0")
                    .fallback("", refusals)
                    .refuses(*numbers[i])
                    for i in range(len(numbers))
                )
                assert refused <= refusals * len(numbers)
    ordered = list(zip(range(100), [0] * 100))
    fallbacks = [Confidence((*ordered[:i], *ordered[i + 1 :]), {}, {}, "0").fallback("", 0.1) for i in range(100)]
    assert sum(fallback.refuses(*new) for fallback, new in zip(fallbacks, ordered)) == 5  # Half of it, for the scores.


def test_equal_scores_are_refused_together_or_not_at_all():
    confidence = made((-5,) * 10 + (-1,) * 9)
    assert confidence.bounds(0.99)[0] == -5
    assert not confidence.fallback(UNKNOWN, 0.99).refuses(-5.0, 0)


@pytest.mark.parametrize("refusals", [0, 1, -0.1, 5, float("nan")])
def test_a_rate_that_cannot_be_is_refused(refusals):
    with pytest.raises(InputError, match=r"the refusal rate must be between 0 and 1, such as 0\.05, not"):
        made().bounds(refusals)


def test_a_rate_that_so_few_questions_cannot_tell_is_refused():
    with pytest.raises(
        InputError, match=r"of 0\.019 is too small for a calibration on 99 questions: choose at least 0\.02, or"
    ):
        made().bounds(0.019)


def test_a_fallback_is_one_line():
    assert made().fallback("").text == ""
    for text in ("a\nb", "a\n", "a\u2028b"):
        with pytest.raises(InputError, match="the fallback must be a single line, not"):
            made().fallback(text)


def test_a_fallback_stands_in_the_place_of_what_is_refused():
    fallback = made().fallback(UNKNOWN, 0.1)
    assert fallback.instead_of("네!", -95.01, 0.5) == UNKNOWN
    assert fallback.instead_of("네!", -95.0, 0.51) == UNKNOWN
    assert fallback.instead_of("네!", -95.0, 0.5) == "네!"
    assert fallback.to_dict() == {
        "text": UNKNOWN, "refusals": 0.1, "least_score": -95.0, "most_pieces": 0.5, "calibrated_on": 99,
    }  # fmt: skip
    assert made().fallback(UNKNOWN).refusals == 0.05


def test_pieces_are_counted_between_start_and_end():
    assert pieces_a_character("안녕 하", [2, 9, 8, 7, 3]) == 0.75
    assert pieces_a_character("  ", []) == 0


def test_settings_that_are_not_said_are_those_that_hold():
    said = decoding_settings(GenerationConfig(Beam(3, 0.5), no_repeat_ngram=2, forbidden_ids=[7]), 23)
    assert said == {
        "strategy": {"kind": "beam", "num_beams": 3, "length_penalty": 0.5}, "max_length": 23, "min_length": 0,
        "repetition_penalty": 1.0, "no_repeat_ngram": 2, "forbidden_ids": [7],
    }  # fmt: skip
    assert decoding_settings(GenerationConfig(max_length=23, min_length=0), 23) == decoding_settings(None, 23)
    assert decoding_settings(GenerationConfig(max_length=5), 23)["max_length"] == 5
    assert decoding_settings(GenerationConfig(required=["cat"]), 23)["required"] == ["cat"]
    seeds = [decoding_settings(GenerationConfig(Sampling(seed=seed)), 23) for seed in (1, 2)]
    assert seeds[0] != seeds[1]
    assert in_words(decoding_settings(None, 23)) == "greedy, max_length 23, repetition_penalty 1.0"


QUESTIONS = ["hello?", "잘 자..", "bye", "고마워!", "  ", "배고파 ~", "안녕하세요 .", "good night", "bye"]


@pytest.fixture(scope="module")
def calibrated(small_run, tmp_path_factory):
    """The small run in a folder of its own, calibrated."""
    import shutil

    path = tmp_path_factory.mktemp("calibrated") / "run"
    shutil.copytree(small_run, path)
    calibrate(path, QUESTIONS)
    return path


@pytest.fixture(scope="module")
def bot(calibrated):
    return Chatbot.load(calibrated)


def test_what_was_found_is_read_again(calibrated):
    found = calibrate(calibrated, QUESTIONS)
    assert Confidence.load(calibrated) == found
    assert len(found.in_domain) == 7  # The blank one is none, and "bye" stands twice.
    bot = Chatbot.load(calibrated)
    assert [pieces for _, pieces in found.in_domain][:2] == bot.pieces(["hello?", "잘 자.."])
    assert bot.pieces(["hello?"]) == [len(bot.tokenizer.encode("hello?")) / 6]


def test_the_fallback_replaces_exactly_the_low_ones(calibrated, bot):
    fallback = Confidence.load(calibrated).fallback(UNKNOWN, 0.5)
    questions = [*QUESTIONS, "쀍뷁 뛟", "hello hello hello", ""]
    found = [one for [one] in bot.n_best(questions)]
    refused = [
        score < fallback.least_score or pieces > fallback.most_pieces
        for (_, score), pieces in zip(found, bot.pieces(questions))
    ]
    expected = [UNKNOWN if no else answer for no, (answer, _) in zip(refused, found)]
    assert bot.replies(questions, fallback=fallback) == expected
    assert 0 < expected.count(UNKNOWN) < len(expected)
    assert [bot.reply(question, fallback=fallback) for question in questions] == expected
    streams = [list(bot.stream(question, fallback=fallback)) for question in questions]
    assert streams == [[answer] if answer else [] for answer in expected]
    assert bot.replies(questions) == [answer for answer, _ in found]


def test_a_beam_search_is_judged_by_its_own_scores(calibrated, bot):
    found = calibrate(calibrated, QUESTIONS, Beam(2))
    try:
        fallback = Confidence.load(calibrated, generation=GenerationConfig(Beam(2))).fallback(UNKNOWN, 0.5)
        assert found.settings["strategy"]["num_beams"] == 2
        expected = bot.replies(QUESTIONS, Beam(2), fallback)
        assert UNKNOWN in expected
        assert ["".join(bot.stream(question, Beam(2), fallback)) for question in QUESTIONS] == expected
        with pytest.raises(InputError, match=r"confidence.json: calibrated for beam, .* not for greedy, max_length 23"):
            Confidence.load(calibrated)
    finally:
        calibrate(calibrated, QUESTIONS)


@pytest.fixture(scope="module")
def retrieving(small_run, tmp_path_factory):
    """The small run in a folder of its own, which answers from its datastore, calibrated on questions that are new."""
    import shutil

    path = shutil.copytree(small_run, tmp_path_factory.mktemp("retrieving") / "run")
    Answering(RETRIEVE).save(path)
    calibrate(path, ["hello there", "잘 자요", "bye bye", "고마워요", "배고파요", "안녕", "good night you"])
    return path


def test_answers_from_the_datastore_are_judged_by_similarity(retrieving):
    bot, confidence = Chatbot.load(retrieving), Confidence.load(retrieving)
    assert confidence.settings == {"answer_by": "retrieve"}
    assert [score for score, _ in confidence.in_domain][:2] == [
        near[0].similarity for near in bot.matches(["hello there", "잘 자요"])
    ]
    fallback = confidence.fallback(UNKNOWN, 0.3)
    said = {"hello!!": "Hi there!", "잘 자 ~~": "좋은 꿈 꾸세요.", "쀍뷁 뛟": UNKNOWN, "xyz 7?": UNKNOWN, " ": ""}
    assert bot.replies(list(said), fallback=fallback) == list(said.values())
    assert ["".join(bot.stream(question, fallback=fallback)) for question in said] == list(said.values())
    assert bot.reply("xyz 7?") != UNKNOWN


def test_what_is_known_word_for_word_is_never_refused(retrieving):
    bot, fallback = Chatbot.load(retrieving), Confidence.load(retrieving).fallback(UNKNOWN, 0.99)
    assert bot.reply("hello?", fallback=fallback) == "Hi there!"
    assert bot.reply("쀍뷁 뛟", fallback=fallback) == UNKNOWN
    bot.datastore.teach("쀍뷁 뛟", "뭐라고요?")
    try:
        assert bot.reply("쀍뷁 뛟", fallback=fallback) == "뭐라고요?"
    finally:
        bot.datastore.forget("쀍뷁 뛟")


def test_a_calibration_holds_for_its_own_way_of_answering(retrieving, calibrated):
    bot, fallback = Chatbot.load(retrieving), Confidence.load(retrieving).fallback(UNKNOWN, 0.5)
    for how in ({"strategy": Beam(2)}, {"generation": GenerationConfig(max_length=5)}, {"answer_by": "hybrid"}):
        with pytest.raises(InputError, match="the run was calibrated for answers by retrieve, not by"):
            bot.reply("hello", fallback=fallback, **how)
    message = "calibrated for answers by retrieve, not for beam.*calibrate .* --answer-by generate"
    with pytest.raises(InputError, match=message):
        Confidence.load(retrieving, generation=GenerationConfig(Beam(2)))
    with pytest.raises(InputError, match=r"not for answers by hybrid.* --answer-by hybrid"):
        Confidence.load(calibrated, answer_by="hybrid")


@pytest.mark.parametrize(
    "settings", [{"strategy": Sampling(seed=1)}, {"max_length": 5}, {"forbidden_ids": [9]}], ids=str
)
def test_answers_chosen_otherwise_are_not_judged(calibrated, settings):
    with pytest.raises(InputError, match="calibrate again with the same options: keras-transformer calibrate"):
        Confidence.load(calibrated, generation=GenerationConfig(**settings))


def test_a_run_that_is_not_calibrated_says_what_to_type(small_run):
    message = f"the run is not calibrated. Calibrate it first: keras-transformer calibrate {small_run}$"
    with pytest.raises(InputError, match=message):
        Confidence.load(small_run)


def test_after_further_training_it_is_to_be_calibrated_again(calibrated, tmp_path):
    import shutil

    path = shutil.copytree(calibrated, tmp_path / "run")
    run = Run(path)
    weights = run.best_weights()
    run.save_weights(weights, {})
    assert Confidence.load(path)  # The same weights, written anew.
    weights[min(weights)] = weights[min(weights)] + 1
    run.save_weights(weights, {})
    with pytest.raises(
        InputError, match=r"confidence.json: the run was trained after its calibration. Calibrate it again: keras-tr"
    ):
        Confidence.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged"), ("[]", "damaged"), ("{}", "damaged"),
        ('{"format": 2, "own": [], "foreign": {}, "settings": {}, "weights": ""}', "has format 2, but this"),
        ('{"format": 1, "own": [], "foreign": {}, "settings": {}, "weights": ""}', "damaged: it holds no questions"),
        ('{"format": 1, "own": [[1]], "foreign": {}}', "damaged"),
        ('{"format": 1, "own": [[-1, "?"]], "foreign": {}}', "damaged"),
        ('{"format": 1, "own": [[-1, 1]], "foreign": {}, "more": 1}', "damaged"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_one_line(small_run, tmp_path, text, message):
    for name in ("config.json", "tokenizer.model", "weights.safetensors"):
        (tmp_path / name).write_bytes((small_run / name).read_bytes())
    (tmp_path / "confidence.json").write_text(text)
    with pytest.raises(InputError, match=f"confidence.json: {message}"):
        Confidence.load(tmp_path)


def test_the_file_is_json_that_others_read(calibrated):
    about = json.loads((calibrated / "confidence.json").read_text("utf-8"))
    assert about.keys() == {"format", "own", "foreign", "settings", "weights", "sha256"}


def test_weights_without_a_checksum_are_damaged(calibrated, tmp_path):
    for name in ("config.json", "tokenizer.model", "confidence.json"):
        (tmp_path / name).write_bytes((calibrated / name).read_bytes())
    (tmp_path / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"weights.safetensors: damaged"):
        Confidence.load(tmp_path)
