import types

import pytest

from benchmarks import profile
from keras_transformer import Config, load_pairs


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("_MklMatMul", "matrix products"),
        ("BatchMatMulV2", "matrix products"),
        ("StatefulPartitionedCall", "update of all weights, one program"),
        ("PartitionedCall", "other compiled programs"),
        ("Cast", "casts between precisions"),
        ("Sqrt", "other operations"),
    ],
)
def test_every_operation_has_its_row(operation, kind):
    assert profile.kind_of(operation) == kind


def test_shares_are_per_step_and_the_largest_comes_first():
    calls = [("Cast", 1.0), ("MatMul", 3.0), ("_MklMatMul", 5.0), ("IteratorGetNext", 100.0)]
    assert list(profile.shares(calls, steps=2).items()) == [("matrix products", 4.0), ("casts between precisions", 0.5)]


def test_events_that_are_no_operation_do_not_count():
    names = {1: "model/dense/MatMul:_MklMatMul", 2: "ThunkExecutor::Execute", 3: "ExecutorState::ProcessAsync::Start"}
    meta = {key: types.SimpleNamespace(name=name) for key, name in names.items()}
    kernel = types.SimpleNamespace(metadata_id=7, str_value="PartitionedCall", ref_value=0)
    events = [types.SimpleNamespace(metadata_id=key, duration_ps=2e9, stats=[kernel]) for key in names]
    plane = types.SimpleNamespace(
        lines=[types.SimpleNamespace(events=events)],
        event_metadata=meta,
        stat_metadata={7: types.SimpleNamespace(name="kernel_type")},
    )
    seen = list(profile.operations(types.SimpleNamespace(planes=[plane])))
    assert seen == [("_MklMatMul", 2.0), ("PartitionedCall", 2.0)]


def test_the_table_names_every_kind_once():
    text = profile.kind_table({"float32": {"matrix products": 3.0, "transposes": 1.0}, "bfloat16": {"transposes": 1.0}})
    assert text.splitlines() == [
        "| part of a step | float32, ms (%) | bfloat16, ms (%) |",
        "| --- | ---: | ---: |",
        "| matrix products | 3.0 (75) | 0.0 (0) |",
        "| transposes | 1.0 (25) | 1.0 (100) |",
        "| all | 4.0 | 1.0 |",
    ]


@pytest.mark.slow
@pytest.mark.compiled
def test_a_real_step_has_its_parts():
    config = Config(vocab_size=800, num_layers=1, d_model=8, num_heads=2, dff=8)
    space = profile.record(config, "float32", load_pairs(profile.SMALL_TALK).head(300), steps=2)
    times = profile.shares(profile.operations(space), steps=2)
    assert {"matrix products", "update of all weights, one program", "other compiled programs"} <= set(times)
