"""Which weights are split among devices where a model is large: embeddings, feed-forward networks, and logits.

As Megatron-LM does it (Shoeybi et al. 2019, section 3): the inner layer by its columns and the outer one by its rows,
so that nothing is exchanged between the two. Adam's moments and the moving average are split as their weights are.
"""

import keras

from keras_transformer.errors import InputError

BATCH, MODEL = "batch", "model"
# Parts of the paths of weights and of what the optimizer keeps beside them, in which "_" stands for "/".
SPLIT = {
    "embedding.table": (None, MODEL),
    "feed_forward.inner.kernel": (None, MODEL),
    "feed_forward.inner.bias": (MODEL,),
    "feed_forward.outer.kernel": (MODEL, None),
}
SPLIT_LOGITS = {"outputs.kernel": (None, MODEL), "outputs.bias": (MODEL,)}


def check_split(config, count, parts):
    """Raises `InputError` if a model of that `Config` cannot be split in so many parts over so many devices."""
    if parts < 1 or count % parts:
        raise InputError(f"--model-devices {parts}: must divide the {count} devices there are to train on")
    for name in ("d_model", "dff"):
        if (size := getattr(config, name)) % parts:
            raise InputError(f"--model-devices {parts}: {name} {size} cannot be split evenly")


def split_over(devices, parts, vocab_size):
    """The Keras distribution of a batch over devices, so many of which split the weights of one model.

    Args:
        devices: Their names, as `keras.distribution.list_devices` has them.
        parts: Devices of each model.
        vocab_size: Of the answers; the logits' weights are split if it can be divided evenly.
    """
    mesh = keras.distribution.DeviceMesh((len(devices) // parts, parts), (BATCH, MODEL), devices)
    layouts = keras.distribution.LayoutMap(mesh)
    for path, layout in {**SPLIT, **(SPLIT_LOGITS if vocab_size % parts == 0 else {})}.items():
        layouts[f".*{path}.*"] = layout
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name=BATCH, auto_shard_dataset=False)
