import pytest

from keras_transformer import PRESETS, Config, InputError, preset, transformer
from keras_transformer.presets import count_parameters, training_bytes


def test_presets_hold_the_papers_sizes():
    assert set(PRESETS) == {"demo", "characters", "tutorial", "small", "base", "big"}
    base, big = preset("base"), preset("big")
    assert base.tie_embeddings and big.tie_embeddings
    assert base.label_smoothing == big.label_smoothing == 0.1
    assert (base.num_layers, base.d_model, base.dff, base.num_heads, base.dropout) == (6, 512, 2048, 8, 0.1)
    assert (big.num_layers, big.d_model, big.dff, big.num_heads, big.dropout) == (6, 1024, 4096, 16, 0.3)
    tutorial = preset("tutorial")
    assert (tutorial.num_layers, tutorial.d_model, tutorial.dff, tutorial.num_heads) == (2, 256, 512, 8)


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(
        InputError, match="no preset named 'huge'; there are demo, characters, tutorial, small, base, big"
    ):
        preset("huge")


def test_small_has_the_tutorials_sizes_and_trains_shorter():
    stops_early = {"epochs": 30, "patience": 3, "monitor": "val_bits_per_char", "warmup_steps": 500}
    assert preset("small") == preset("tutorial").replace(**stops_early)


def test_tutorial_trains_all_its_epochs_and_keeps_the_weights_that_fit_its_pairs_best():
    tutorial = preset("tutorial")
    assert (tutorial.epochs, tutorial.patience, tutorial.monitor) == (50, 0, "accuracy")


@pytest.mark.parametrize(("name", "millions"), [("base", 65), ("big", 213)])
def test_base_and_big_have_the_papers_parameters(name, millions):
    assert count_parameters(preset(name)) == pytest.approx(millions * 1e6, rel=0.04)  # Table 3.


@pytest.mark.parametrize("sizes", [(50, 1, 8, 2, 24), (300, 3, 16, 4, 8)])
@pytest.mark.parametrize("tied", [False, True])
def test_parameters_are_counted_as_keras_counts_them(sizes, tied):
    vocab_size, num_layers, d_model, num_heads, dff = sizes
    model = transformer(vocab_size, num_layers, dff, d_model, num_heads, 0.1, tie_embeddings=tied)
    config = Config(vocab_size, num_layers, d_model, num_heads, dff, tied)
    assert count_parameters(config) == model.count_params()
    pre_norm = transformer(*sizes[:2], dff, d_model, num_heads, 0.1, tie_embeddings=tied, norm_first=True)
    assert count_parameters(config.replace(norm_first=True)) == pre_norm.count_params()
    own = transformer(*sizes[:2], dff, d_model, num_heads, 0.1, target_vocab_size=vocab_size, tie_embeddings=tied)
    assert count_parameters(config.replace(target_tokenizer="word")) == own.count_params()


def test_training_holds_five_numbers_a_parameter_and_one_more_to_accumulate():
    config = preset("base")
    assert training_bytes(config) == 20 * count_parameters(config)
    assert training_bytes(config.replace(accumulate=2)) == 24 * count_parameters(config)
