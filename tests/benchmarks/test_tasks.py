import pytest

from benchmarks import tasks
from benchmarks.tasks import TASKS, learn, make_pairs


def test_reversing_is_what_it_says():
    sources, targets = make_pairs("reverse", 50, seed=0)
    for source, target in zip(sources.tolist(), targets.tolist()):
        end = source.index(3)
        assert target[1:end] == source[1:end][::-1]
        assert target.index(3) == end


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_tiny_model_learns_to_do_it_to_sequences_it_never_saw(task):
    exact, _ = learn(task)
    assert exact >= 0.99


def test_what_was_learned_is_written(results, monkeypatch):
    monkeypatch.setattr(tasks, "learn", lambda task: (0.995 if task == "copy" else 1.0, 12.3))
    tasks.main(["--results", str(results)])
    assert "| copy | 99.50% | 12 |\n| reverse | 100.00% | 12 |" in results.read_text("utf-8")
