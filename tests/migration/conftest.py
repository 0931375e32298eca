"""A tiny chatbot of the tutorial: random weights, its forward pass in NumPy, and the file that Keras 2 writes."""

import h5py
import numpy as np
import pytest

SUBWORDS = ["안녕_", "하세요", "반가워요", "배고파", "밥_", "먹어요", "hello_", "there", " !", " ?"]
NUM_LAYERS, D_MODEL, DFF, NUM_HEADS = 2, 8, 12, 2
VOCAB_SIZE = 1 + len(SUBWORDS) + 256 + 2  # Padding, subwords, bytes, start and end.


def named_arrays():
    """The names and arrays of each top-level layer, in the order in which Keras 2 creates and saves them."""
    random = np.random.default_rng(3)

    def array(*shape):
        return random.normal(0, 0.5, shape).astype("float32")

    def dense(name, width, units):
        return [(f"{name}/kernel:0", array(width, units)), (f"{name}/bias:0", array(units))]

    def attention(name):
        parts = ("query", "key", "value", "output")
        return [one for part in parts for one in dense(f"{name}/{part}", D_MODEL, D_MODEL)]

    def norm(name):
        return [(f"{name}/gamma:0", 1 + array(D_MODEL)), (f"{name}/beta:0", array(D_MODEL))]

    def stack(attentions):
        arrays = [("embedding/embeddings:0", array(VOCAB_SIZE, D_MODEL))]
        for layer in range(NUM_LAYERS):
            for number in range(attentions):
                arrays += [*attention(f"layer_{layer}/attention_{number}"), *norm(f"layer_{layer}/norm_{number}")]
            arrays += [*dense(f"layer_{layer}/dense", D_MODEL, DFF), *dense(f"layer_{layer}/dense_1", DFF, D_MODEL)]
            arrays += norm(f"layer_{layer}/norm_{attentions}")
        return arrays

    return {"encoder": stack(1), "decoder": stack(2), "outputs": dense("outputs", D_MODEL, VOCAB_SIZE)}


@pytest.fixture(scope="session")
def layers():
    return named_arrays()


@pytest.fixture(scope="session")
def arrays(layers):
    return [array for layer in layers.values() for _, array in layer]


@pytest.fixture(scope="session")
def tutorial_logits(arrays):
    """The tutorial's own forward pass, which takes its weights in the order in which it needs them."""

    def positions(length, concatenated):
        angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, D_MODEL, 2) / D_MODEL)
        if concatenated:
            return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, D_MODEL)

    def logits(question, answer, concatenated=False, twice=False, num_heads=NUM_HEADS):
        weights = iter(arrays)

        def dense(x):
            return x @ next(weights).astype(float) + next(weights)

        def norm(x):
            centred = x - x.mean(-1, keepdims=True)
            return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * next(weights) + next(weights)

        def heads(x):
            return x.reshape(len(x), num_heads, -1).transpose(1, 0, 2)

        def attention(x, memory, hidden=0.0):
            query, key, value = (heads(dense(one)) for one in (x, memory, memory))
            scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]) - 1e9 * hidden
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = shares / shares.sum(-1, keepdims=True) @ value
            return dense(mixed.transpose(1, 0, 2).reshape(len(x), D_MODEL))

        def feed_forward(x):
            return dense(np.maximum(dense(x), 0))

        def embedded(ids):
            return next(weights).astype(float)[ids] * np.sqrt(D_MODEL) + positions(len(ids), concatenated)

        memory = embedded(question)
        for _ in range(NUM_LAYERS):
            memory = norm(memory + attention(memory, memory))
            memory = norm(memory + feed_forward(memory))
        x, future = embedded(answer), np.triu(np.ones((len(answer),) * 2), 1)
        for _ in range(NUM_LAYERS):
            x = norm(x + attention(x, x, future))
            attended = attention(x, memory) + (x if twice else 0)
            x = norm(x + attended)
            x = norm(x + feed_forward(x))
        return dense(x)

    return logits


@pytest.fixture(scope="session")
def subwords(tmp_path_factory):
    """The vocabulary as tensorflow-datasets saves it."""
    path = tmp_path_factory.mktemp("vocabulary") / "chatbot.subwords"
    lines = ["### SubwordTextEncoder", "### Metadata: {}", *(f"'{piece}'" for piece in SUBWORDS), ""]
    path.write_bytes("\n".join(lines).encode())
    return path


@pytest.fixture
def weights_file(layers, write_hdf5, tmp_path):
    """What `model.save_weights("chatbot.h5")` writes."""
    write_hdf5(tmp_path / "chatbot.h5", layers)
    return tmp_path / "chatbot.h5"


@pytest.fixture(scope="session")
def write_hdf5():
    """A function that writes the layers as Keras 2 does, at the root of a file or in a group."""

    def write(path, layers, group="/"):
        with h5py.File(path, "w") as file:
            root = file.require_group(group)
            root.attrs["layer_names"] = np.array(["inputs", *layers], "S")
            for layer, arrays in {"inputs": [], **layers}.items():
                inside = root.create_group(layer)
                inside.attrs["weight_names"] = np.array([name for name, _ in arrays], "S")
                for name, array in arrays:
                    inside[name] = array

    return write
