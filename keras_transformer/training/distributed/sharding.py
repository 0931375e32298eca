"""Model parallelism: shards the weights of embeddings, feed-forward networks and logits over devices.

As in Megatron-LM (Shoeybi et al. 2019, section 3), the inner layer is split by columns and the outer layer by rows, so
that no communication is needed between the two. Adam's moments and the moving average are sharded like their weights.
"""

import keras

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

BATCH, MODEL = "batch", "model"
# Patterns for the paths of weights ("/") and of the optimizer's variables, whose paths contain "_" instead.
SPLIT = {
    "embedding.table": (None, MODEL),
    "feed_forward.inner.kernel": (None, MODEL),
    "feed_forward.inner.bias": (MODEL,),
    "feed_forward.outer.kernel": (MODEL, None),
}
SPLIT_LOGITS = {"outputs.kernel": (None, MODEL), "outputs.bias": (MODEL,)}


def check_split(config, count, shards):
    """Raises `InputError` if a model of this `Config` cannot be split into `shards` shards on `count` devices."""
    if shards < 1 or count % shards:
        raise InputError(
            _("--model-devices {shards}: must divide the number of devices, {count}", shards=shards, count=count)
        )
    for name in ("d_model", "dff"):
        if (size := getattr(config, name)) % shards:
            raise InputError(
                _("--model-devices {shards}: {name} {size} cannot be split evenly", shards=shards, name=name, size=size)
            )


def split_over(devices, shards, vocab_size):
    """Returns the Keras distribution that splits batches over devices and large weights over groups of devices.

    Args:
        devices: Device names from `keras.distribution.list_devices`.
        shards: Number of devices that share the weights of one model.
        vocab_size: Vocabulary size of the answers; the weights of the logits are split if `shards` divides it.
    """
    mesh = keras.distribution.DeviceMesh((len(devices) // shards, shards), (BATCH, MODEL), devices)
    layouts = keras.distribution.LayoutMap(mesh)
    for path, layout in {**SPLIT, **(SPLIT_LOGITS if vocab_size % shards == 0 else {})}.items():
        layouts[f".*{path}.*"] = layout
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name=BATCH, auto_shard_dataset=False)
