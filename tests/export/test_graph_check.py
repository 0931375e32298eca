"""SavedModels whose graphs do more than calculate are not loaded."""

import types

import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_transformer import InputError, Tokenizer
from keras_transformer.export import saved_model
from keras_transformer.export.graph_check import CALCULATION, FILE, check_graph
from keras_transformer.export.graph_text import GraphText
from keras_transformer.text.core_ops import CoreTokenizer

pytestmark = pytest.mark.heavy

QUESTIONS = tf.TensorSpec((None,), tf.string, "questions")


def answered(questions, *first):
    """The outputs of an export, for which the given operations run first."""
    with tf.control_dependencies(first):
        return {"answers": tf.identity(questions), "scores": tf.zeros(tf.shape(questions))}


def save(folder, answer):
    """Saves a function from questions to the outputs of an export as a SavedModel."""
    module = tf.Module()
    module.weight = tf.Variable(1.0)
    tf.saved_model.save(module, str(folder), tf.function(answer, [QUESTIONS], autograph=False))


@pytest.fixture
def planted(tmp_path):
    """The file that a planted operation would write."""
    return tmp_path / "planted"


def writing(planted):
    return tf.raw_ops.WriteFile(filename=str(planted), contents="")


def test_what_calculates_is_loaded(tmp_path):
    save(tmp_path, answered)
    assert saved_model.load(tmp_path)(["a"]) == [("a", 0.0)]


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("WriteFile", writing),
        ("ReadFile", lambda planted: tf.io.read_file(str(planted))),
        ("MatchingFiles", lambda planted: tf.io.matching_files(f"{planted}*")),
        ("EagerPyFunc", lambda planted: tf.py_function(planted.touch, [], [])),
        ("PyFunc", lambda planted: tf.numpy_function(planted.touch, [], [])),
        ("PrintV2", lambda planted: tf.print("a", output_stream=f"file://{planted}")),
        ("SaveV2", lambda planted: tf.raw_ops.SaveV2(
            prefix=str(planted), tensor_names=["a"], shape_and_slices=[""], tensors=[tf.zeros(())])),
    ],
)  # fmt: skip
def test_what_touches_files_or_runs_python_is_not(tmp_path, planted, name, operation):
    save(tmp_path / "model", lambda questions: answered(questions, operation(planted)))
    with pytest.raises(InputError, match=rf"saved_model\.pb: has the operation {name}, which no export has"):
        saved_model.load(tmp_path / "model")
    assert not list(tmp_path.glob("planted*"))


def test_neither_is_what_does_so_in_a_branch_of_a_branch(tmp_path, planted):
    def answer(questions):
        def branch():
            with tf.control_dependencies([writing(planted)]):
                return tf.constant(0)

        number = tf.while_loop(
            lambda i: i < 1, lambda i: (tf.cond(i < 5, branch, lambda: tf.constant(0)) + i + 1,), [tf.constant(0)]
        )
        return answered(questions, *number)

    save(tmp_path / "model", answer)
    with pytest.raises(InputError, match="WriteFile"):
        check_graph(tmp_path / "model")


def changed(folder, change):
    """Changes the message in a SavedModel."""
    model = saved_model_pb2.SavedModel.FromString((folder / FILE).read_bytes())
    change(model)
    (folder / FILE).write_bytes(model.SerializeToString())


def test_a_function_that_saves_may_not_be_called(tmp_path):
    def call_it(model):
        [meta_graph] = model.meta_graphs
        name = next(
            f.signature.name for f in meta_graph.graph_def.library.function if "traced_save" in f.signature.name
        )
        [entry] = [node for node in meta_graph.object_graph_def.nodes if node.bare_concrete_function.ByteSize()][:1]
        entry.bare_concrete_function.concrete_function_name = name

    save(tmp_path, answered)
    check_graph(tmp_path)
    changed(tmp_path, call_it)
    with pytest.raises(InputError, match="has the operation"):
        check_graph(tmp_path)


def test_a_second_function_of_the_same_name_is_seen(tmp_path):
    def double(model):
        library = model.meta_graphs[0].graph_def.library
        last = next(f for f in library.function if "answer" in f.signature.name or "signature" in f.signature.name)
        library.function.insert(0, last)
        library.function[0].node_def.add(name="planted", op="WriteFile")

    save(tmp_path, answered)
    changed(tmp_path, double)
    with pytest.raises(InputError, match="WriteFile"):
        check_graph(tmp_path)


def test_a_graph_of_another_kind_is_not_loaded(tmp_path):
    save(tmp_path, answered)
    changed(tmp_path, lambda model: model.meta_graphs[0].ClearField("object_graph_def"))
    with pytest.raises(InputError, match="not written by this program"):
        check_graph(tmp_path)
    (tmp_path / FILE).write_bytes(b"\xff" * 10)
    with pytest.raises(InputError, match=r"saved_model\.pb: damaged"):
        check_graph(tmp_path)
    (tmp_path / FILE).unlink()
    with pytest.raises(InputError, match=r"saved_model\.pb: No such file"):
        check_graph(tmp_path)


@pytest.mark.parametrize("kind", ["sentencepiece", "bpe", "character", "word"])
@pytest.mark.variants(2)
def test_the_text_of_every_kind_of_tokenizer_may_be_calculated(kind):
    tokenizer = Tokenizer.train(["안녕 세상", "hello there"] * 8, 320, kind=kind, separator=True)
    config = types.SimpleNamespace(max_length=24, turns=2)
    text = GraphText(
        types.SimpleNamespace(tokenizer=tokenizer, target_tokenizer=tokenizer, config=config), CoreTokenizer
    )
    function = tf.function(lambda texts: text.decode(text.encode(texts)), [QUESTIONS], autograph=False)
    graph = function.get_concrete_function().graph.as_graph_def()
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    assert {node.op for node in nodes} <= CALCULATION
