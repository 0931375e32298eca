"""The tutorials' notebook, its cells as they are published, on the star import."""

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import *  # noqa: F403  (as the tutorial's reader writes it)

NUM_LAYERS, D_MODEL, NUM_HEADS, DFF, DROPOUT = 1, 32, 4, 64, 0.1

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def corpus():
    questions = [f"{word} 질문 {i}" for i in range(16) for word in ("안녕", "오늘", "hello")]
    answers = [f"{word} 대답" for i in range(16) for word in ("반가워요", "좋은 날이에요", "hi there")]
    return pd.DataFrame({"question": questions, "answer": answers})


@pytest.fixture(scope="module")
def trained(corpus):
    tokenizer = Tokenizer.train([*corpus["question"], *corpus["answer"]], vocab_size=400)  # noqa: F405
    keras.utils.set_random_seed(0)
    model = transformer(  # noqa: F405
        vocab_size=tokenizer.vocab_size,
        num_layers=NUM_LAYERS,
        dff=DFF,
        d_model=D_MODEL,
        num_heads=NUM_HEADS,
        dropout=DROPOUT,
    )
    learning_rate = CustomSchedule(512, warmup_steps=60)  # noqa: F405
    optimizer = keras.optimizers.Adam(learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer=optimizer, loss=loss_function, metrics=[accuracy])  # noqa: F405
    dataset = make_dataset(corpus, tokenizer, batch_size=16)  # noqa: F405
    history = model.fit(dataset, epochs=40, verbose=0)
    return model, tokenizer, history.history


def test_the_loss_falls_and_the_answers_are_learnt(trained):
    _, _, history = trained
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    assert history["accuracy"][-1] > 0.9


def test_the_tutorials_own_answer_loop_works(trained):
    """It calls the model with a list, in the order question, answer so far."""
    model, tokenizer, _ = trained
    sentence = np.array([[tokenizer.start_id, *tokenizer.encode("안녕 질문 3"), tokenizer.end_id]])
    output = np.array([[tokenizer.start_id]])
    for _ in range(20):
        predictions = keras.ops.convert_to_numpy(model(inputs=[sentence, output], training=False))
        predicted_id = predictions[:, -1:, :].argmax(axis=-1)
        if predicted_id[0, 0] == tokenizer.end_id:
            break
        output = np.concatenate([output, predicted_id], axis=-1)
    assert tokenizer.decode(output[0]) == "반가워요 대답"


def test_generate_gives_the_same_answer(trained):
    model, tokenizer, _ = trained
    ids = [[tokenizer.start_id, *tokenizer.encode("hello 질문 3"), tokenizer.end_id]]
    generation = generate(  # noqa: F405
        model, ids, start_id=tokenizer.start_id, end_id=tokenizer.end_id, max_length=20
    )
    assert tokenizer.decode(generation.ids) == ["hi there 대답"]


def test_the_tutorials_sample_cells():
    sample = PositionalEncoding(50, 128)  # noqa: F405
    assert keras.ops.convert_to_numpy(sample.pos_encoding).shape == (1, 50, 128)
    layer = encoder_layer(dff=512, d_model=128, num_heads=4, dropout=0.3, name="sample_encoder_layer")  # noqa: F405
    assert layer.output_shape == (None, None, 128)
    stack = decoder(vocab_size=100, num_layers=2, dff=64, d_model=32, num_heads=4, dropout=0.3, name="sample_decoder")  # noqa: F405
    assert stack.output_shape == (None, None, 32)
