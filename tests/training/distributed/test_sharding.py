import json
import os
import subprocess
import sys

import pytest

from keras_transformer import Config, InputError
from keras_transformer.training.distributed.sharding import check_split

pytestmark = pytest.mark.heavy

SHARDS = """
import json, keras
from keras_transformer import transformer
from keras_transformer.training.distributed.cluster import distribution_scope
from keras_transformer.training.optimizer import make_optimizer
from keras_transformer import Config
with distribution_scope(4, 2, 51):
    models = [transformer(vocab_size, 1, 16, 8, 2, 0.1) for vocab_size in (50, 51)]
    optimizer = make_optimizer(Config(), 10)
    optimizer.build(models[1].trainable_variables)
with distribution_scope(4, 2, 50):
    even = transformer(50, 1, 16, 8, 2, 0.1)
shard = lambda variable: variable.value.addressable_shards[0].data.shape
print(json.dumps([{v.path: shard(v) for v in vs} for vs in (models[1].variables, optimizer.variables, even.variables)]))
"""


def test_the_large_weights_are_split_with_all_that_is_kept_beside_them():
    flags = "--xla_force_host_platform_device_count=4"
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    process = subprocess.run(
        [sys.executable, "-c", SHARDS], env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    odd, optimizer, even = json.loads(process.stdout.splitlines()[-1])
    for path, shape in {
        "source_embedding/table": [51, 4],
        "target_embedding/table": [51, 4],
        "encoder/layer_0/feed_forward/inner/kernel": [8, 8],
        "encoder/layer_0/feed_forward/inner/bias": [8],
        "decoder/layer_0/feed_forward/outer/kernel": [8, 8],
        "decoder/layer_0/feed_forward/outer/bias": [8],
        "encoder/layer_0/self_attention/query/kernel": [8, 8],
        "outputs/kernel": [8, 51],
    }.items():
        assert odd[path] == shape, path
        beside = [name for name in optimizer if path.replace("/", "_") in name]
        assert len(beside) == 3  # Two moments and the average.
        assert [optimizer[name] for name in beside] == [shape] * 3
    assert even["outputs/kernel"] == [8, 25] and even["outputs/bias"] == [25]


@pytest.mark.parametrize(
    ("count", "shards", "message"),
    [
        (4, 3, "--model-devices 3: must divide the number of devices, 4"),
        (4, 0, "--model-devices 0: must divide the number of devices, 4"),
        (3, 3, "--model-devices 3: d_model 16 cannot be split evenly"),
        (4, 4, "--model-devices 4: dff 18 cannot be split evenly"),
    ],
)
def test_a_model_that_cannot_be_split_is_one_line(count, shards, message):
    with pytest.raises(InputError) as refused:
        check_split(Config(d_model=16, num_heads=2, dff=18), count, shards)
    assert str(refused.value) == message


def test_a_whole_model_is_never_split():
    check_split(Config(), 5, 1)
