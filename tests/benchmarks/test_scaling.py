import os

import pytest

from benchmarks import scaling
from benchmarks.cluster import sent_bytes
from benchmarks.programs import Failed
from keras_transformer import preset


def test_processes_are_told_of_each_other_and_a_lone_one_of_nobody():
    assert scaling.meetings(1) == [[]]
    first, second = scaling.meetings(2)
    assert first[0] == "--coordinator" and first[1].startswith("127.0.0.1:")
    assert first[2:] == ["--processes", "2", "--process", "0"]
    assert second == [*first[:-1], "1"]


def test_rows_hold_speed_up_traffic_and_the_error_of_the_model():
    found = {
        1: [{"step": 1.0, "exchange": 0.0, "sent": 0, "size": 30e6, "expected": 1.0}],
        2: [{"step": 0.625, "exchange": 0.1, "sent": 62e6, "size": 30e6, "expected": 0.5}],
        4: [{"step": 0.8, "exchange": 0.2, "sent": 181e6, "size": 30e6, "expected": 0.88}],
    }
    assert scaling.measured_rows(found, cores=2) == [
        ["1", "1", "1,000", "0", "0.0", "0.0", "1.00", "100", ""],
        ["2", "2", "625", "100", "62.0", "60.0", "1.60", "80", "-20"],
        ["4", "2", "800", "200", "181.0", "180.0", "1.25", "62", "10"],
    ]


def test_predictions_follow_from_operations_and_gradients():
    config = preset("base")
    one, eight, *_, last = scaling.predicted_rows(config)
    # 6 layers of 12 d² + 4 d f + 6 d 32, and 37,000 d: 63 million multiply-adds a token, 6 operations each, 25,000
    # tokens, at 0.45 × 989 TFLOP/s.
    assert one == ["1", "25,000", "21.43", "0.00", "21.43 – 21.43", "1.2 – 1.2", "100 – 100"]
    # Gradients of 4 × 63 MB: 7/4 of them at 450 GB/s.
    assert eight[:5] == ["8", "25,000", "2.68", "1.01", "2.68 – 3.69"]
    assert last[0] == "1,024" and last[-1] == "0 – 0"
    growing = scaling.predicted_rows(config, tokens_each=25_000)[1]
    assert growing[:4] == ["8", "200,000", "21.43", "1.01"]


def test_what_a_step_should_take_is_that_of_a_lone_process_on_its_share_of_a_core_and_the_exchange(monkeypatch):
    asked = []

    def run_together(count, options, rows):
        asked.append((count, rows))
        return {"step": 0.25 if count == 1 else 0.7, "exchange": 0.125}

    monkeypatch.setattr(scaling, "run_together", run_together)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    options = scaling.parser().parse_args(["--rows", "64"])
    assert scaling.measure(4, options) == {"step": 0.7, "exchange": 0.125, "expected": 0.625}
    assert asked == [(1, 16), (4, 16)]
    assert scaling.measure(1, options)["expected"] == 0.25 + 0.125


def test_a_batch_that_cannot_be_shared_out_is_refused(results):
    with pytest.raises(Failed, match="6 pairs cannot be shared out evenly over 4 processes: choose other --rows"):
        scaling.main(["--rows", "6", "--results", str(results)])


def test_every_count_is_measured_in_every_round(results, monkeypatch):
    monkeypatch.setattr(scaling, "run_together", lambda *_: {"step": 0.5, "exchange": 0.125, "sent": 0, "size": 4})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    scaling.main(["--processes", "2", "--rounds", "3", "--results", str(results)])
    text = results.read_text("utf-8")
    assert "| 1 | 1 | 500 (500–500) | " in text and "| 2 | 2 | 500 (500–500) | 125 (125–125) | " in text
    assert "**big, 214 million parameters; the paper's batch, shared out:**" in text


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes are given cores on Linux alone")
def test_two_processes_send_their_gradients():
    found = scaling.run_together(2, scaling.parser().parse_args(["--preset", "demo"]), rows=1)
    assert found["step"] > 0 and found["exchange"] > 0 and found["product"] > 1e6
    by_equation = 2 * sent_bytes(found["size"], 2)
    # All gradients of each of the two once; and a little more: losses, metrics, heads of packets, other programs.
    assert by_equation <= found["sent"] < 2 * by_equation
