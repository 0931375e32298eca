import pandas as pd
import pytest

from keras_transformer import Config, InputError, Tokenizer
from keras_transformer.data.corpus import Corpus
from keras_transformer.presets import preset
from keras_transformer.runs.run import Run
from keras_transformer.training.plan import about_corpus, augmented, fitting_warm_up, headerless_note, make_plan

TINY = Config(
    vocab_size=300, num_layers=1, d_model=16, num_heads=2, dff=16,
    batch_size=32, epochs=2, warmup_steps=5, max_length=16,
)  # fmt: skip
NO_FILES = {"tokenizer_file": None, "target_tokenizer_file": None}


@pytest.fixture(scope="module")
def pairs():
    questions = [f"질문 {i} {word}" for i in range(80) for word in ("하나", "two")]
    return pd.DataFrame({"question": questions, "answer": [f"대답 {i % 7}" for i in range(160)]})


def plan_of(pairs, folder, config=None, from_run=None, **settings):
    return make_plan(pairs, folder / "run", config, from_run, NO_FILES, None, 1, settings)


def test_a_plan_says_what_a_training_will_do_and_writes_nothing(pairs, tmp_path, capsys):
    plan = plan_of(pairs, tmp_path, TINY, epochs=3)
    assert plan.config == TINY.replace(epochs=3)
    assert plan.tokenizers[0] is plan.tokenizers[1] and isinstance(plan.tokenizers[0], Tokenizer)
    assert (plan.about["train"], plan.about["validation"]) == (len(plan.training.encoded), len(plan.validation.encoded))
    assert plan.survey.sample is None and plan.parent is None and plan.corrections == []
    assert not list(tmp_path.iterdir()) and not capsys.readouterr().out


def test_a_plan_without_a_config_follows_the_recommendation_and_says_so(pairs, tmp_path, capsys):
    plan = plan_of(pairs, tmp_path, epochs=3, d_model=32)
    assert (plan.config.epochs, plan.config.d_model) == (3, 32)
    assert capsys.readouterr().out.startswith("Chosen for")


def test_an_invalid_setting_or_schedule_is_refused_before_anything_is_written(pairs, tmp_path):
    with pytest.raises(InputError, match="epochs must be a whole number of at least 1, not 0"):
        plan_of(pairs, tmp_path, TINY, epochs=0)
    with pytest.raises(InputError, match="warm"):
        plan_of(pairs, tmp_path, TINY, schedule="cosine", learning_rate=0.001, warmup_steps=10**6)
    assert not list(tmp_path.iterdir())


def test_where_the_corpus_is_can_always_be_written_down(pairs):
    survey = Corpus(pairs).survey()
    about = about_corpus({"corpus": ["/말뭉치/대화.csv", "/d/\udcff.csv"], "encoding": "cp949"}, survey)
    assert about["name"] == "대화.csv ?.csv"
    assert about["source"] == {"corpus": ["/말뭉치/대화.csv", "/d/?.csv"], "encoding": "cp949"}
    assert about_corpus({}, survey)["name"] == "pairs"
    about = about_corpus({}, survey, "MIT", "ko")
    assert (about["licence"], about["language"]) == ("MIT", "ko")


def test_the_first_pair_of_a_table_without_a_header_is_shown():
    sample = pd.DataFrame({"question": ["손님 말", "몇 시에 열어요?"], "answer": ["우리 말", "아홉 시요."]})
    assert headerless_note(sample) is None  # Pairs from memory.
    sample = sample.assign(file="faq.CSV", row=[1, 2])
    assert headerless_note(sample) == "faq.CSV has no header; its first pair: 손님 말 → 우리 말"
    assert headerless_note(sample.assign(row=[2, 3])) is None
    assert headerless_note(sample.assign(file="faq.tsv.gz"))
    assert headerless_note(sample.assign(file="a.ko + a.en")) is None
    assert headerless_note(sample.assign(file="ko.tsv + en.tsv")) is None


SIX = pd.DataFrame({"question": [f"질문 {i}번은?" for i in range(6)], "answer": [f"대답 {i}" for i in range(6)]})
COSINE = TINY.replace(schedule="cosine", learning_rate=0.001, warmup_steps=50, hold_out=False)


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_a_warm_up_that_nobody_gave_fits_the_shortest_training(tmp_path, epochs):
    plan = plan_of(SIX, tmp_path, epochs=epochs, batch_size=6, recombine=0, augment=0)
    assert (len(plan.training), plan.config.schedule, plan.config.warmup_steps) == (1, "cosine", 1)
    with pytest.raises(InputError, match=rf"warmup_steps 9 must be below the {epochs} updates .* raise --epochs"):
        plan_of(SIX, tmp_path, epochs=epochs, batch_size=6, recombine=0, augment=0, warmup_steps=9)
    with pytest.raises(InputError, match="warmup_steps 50 must be below"):
        plan_of(SIX, tmp_path, COSINE.replace(epochs=epochs))


def test_a_warm_up_of_a_preset_or_of_the_run_to_fine_tune_fits_too(tmp_path):
    sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "dff": 16, "hold_out": False}
    assert plan_of(SIX, tmp_path, preset("characters"), epochs=1, **sizes).config.warmup_steps == 1
    assert plan_of(SIX, tmp_path, preset("tutorial"), epochs=1, **sizes).config.warmup_steps == 4000  # Sets the peak.
    tokenizer = Tokenizer.train([*SIX["question"], *SIX["answer"]], COSINE.vocab_size)
    parent = Run.create(tmp_path / "parent", COSINE, tokenizer, {"pairs": 6})
    parent.save_weights({}, {})
    assert plan_of(SIX, tmp_path, from_run=parent.path, epochs=1).config.warmup_steps == 1


@pytest.mark.parametrize("epochs", [1, 30])
def test_the_same_command_goes_on_with_the_warm_up_of_its_run(tmp_path, epochs):
    sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "dff": 16, "hold_out": False}
    first = plan_of(SIX, tmp_path, preset("characters"), epochs=1, **sizes)
    Run.create(tmp_path / "run", first.config, first.tokenizers[0], first.about)
    assert plan_of(SIX, tmp_path, preset("characters"), epochs=epochs, **sizes).config.warmup_steps == 1
    with pytest.raises(InputError, match="was started with warmup_steps 1, not 9"):
        plan_of(SIX, tmp_path, preset("characters"), epochs=epochs, warmup_steps=9, **sizes)


@pytest.mark.parametrize(("batches", "steps"), [(400, 100), (200, 100), (199, 19), (5, 1), (1, 1)])
def test_a_recommended_warm_up_fits_the_training(batches, steps):
    assert fitting_warm_up(COSINE.replace(warmup_steps=100), batches).warmup_steps == steps
    assert fitting_warm_up(COSINE.replace(warmup_steps=100, accumulate=2), 2 * batches).warmup_steps == steps


def test_what_settings_add_to_the_training_pairs(pairs):
    assert list(augmented(pairs, TINY, 0)) == []
    [noisy] = augmented(pairs, TINY.replace(augment=1), 0)
    [new] = augmented(pairs, TINY.replace(recombine=1), 0)
    both = list(augmented(pairs, TINY.replace(augment=1, recombine=1), 0))
    assert [len(made) > 100 and not set(made["question"]) & set(pairs["question"]) for made in both] == [True, True]
    assert both[0].equals(noisy) and both[1].equals(new)
