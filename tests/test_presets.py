import pytest

from keras_transformer import PRESETS, InputError, preset


def test_presets_hold_the_papers_sizes():
    assert set(PRESETS) == {"demo", "tutorial", "base", "big"}
    base, big = preset("base"), preset("big")
    assert base.tie_embeddings and big.tie_embeddings
    assert base.label_smoothing == big.label_smoothing == 0.1
    assert (base.num_layers, base.d_model, base.dff, base.num_heads, base.dropout) == (6, 512, 2048, 8, 0.1)
    assert (big.num_layers, big.d_model, big.dff, big.num_heads, big.dropout) == (6, 1024, 4096, 16, 0.3)
    tutorial = preset("tutorial")
    assert (tutorial.num_layers, tutorial.d_model, tutorial.dff, tutorial.num_heads) == (2, 256, 512, 8)


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(InputError, match="no preset named 'huge'; there are demo, tutorial, base, big"):
        preset("huge")
