import pandas as pd
import pytest

from keras_transformer import Config, InputError, Tokenizer
from keras_transformer.data.corpus import Corpus
from keras_transformer.training.plan import about_corpus, augmented, fitting_warm_up, make_plan

TINY = Config(
    vocab_size=300, num_layers=1, d_model=16, num_heads=2, dff=16,
    batch_size=32, epochs=2, warmup_steps=5, max_length=16,
)  # fmt: skip
NO_FILES = {"tokenizer_file": None, "target_tokenizer_file": None}


@pytest.fixture(scope="module")
def pairs():
    questions = [f"질문 {i} {word}" for i in range(80) for word in ("하나", "two")]
    return pd.DataFrame({"question": questions, "answer": [f"대답 {i % 7}" for i in range(160)]})


def plan_of(pairs, folder, config=None, **settings):
    return make_plan(pairs, folder / "run", config, None, NO_FILES, None, 1, settings)


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


@pytest.mark.parametrize(("batches", "steps"), [(400, 100), (200, 100), (199, 19), (5, 1), (1, 1)])
def test_a_recommended_warm_up_fits_the_training(batches, steps):
    assert fitting_warm_up(Config(warmup_steps=100), batches).warmup_steps == steps
    assert fitting_warm_up(Config(warmup_steps=100, accumulate=2), 2 * batches).warmup_steps == steps


def test_what_settings_add_to_the_training_pairs(pairs):
    assert list(augmented(pairs, TINY, 0)) == []
    [noisy] = augmented(pairs, TINY.replace(augment=1), 0)
    [new] = augmented(pairs, TINY.replace(recombine=1), 0)
    both = list(augmented(pairs, TINY.replace(augment=1, recombine=1), 0))
    assert [len(made) > 100 and not set(made["question"]) & set(pairs["question"]) for made in both] == [True, True]
    assert both[0].equals(noisy) and both[1].equals(new)
