import pytest

from benchmarks.ours import train_seconds
from benchmarks.programs import Failed
from benchmarks.time_to_quality import best_epoch, first_at_or_below, main, ratio

ROWS = [{"val_bits_per_char": bits, "pairs/s": speed} for bits, speed in ((5.0, 50.0), (3.0, 100.0), (2.0, 100.0))]
SLOW = """
import pathlib, sys, time
run = pathlib.Path(sys.argv[sys.argv.index("--run") + 1])
run.mkdir()
(run / "metrics.csv").write_text("epoch,pairs/s,val_bits_per_char\\n1,45.0,5.0\\n2,90.0,2.5\\n")
time.sleep(600)
"""


def test_the_target_is_the_best_epoch():
    epochs = [{"bits_per_char": bits, "train_s": s} for bits, s in ((4.0, 10.0), (3.0, 20.0), (3.0, 30.0), (3.5, 40.0))]
    best = best_epoch(epochs, [11.0, 22.0, 33.0, 44.0])
    assert (best.bits, best.epochs, best.train_s, best.wall_s) == (3.0, 2, 20.0, 22.0)
    with pytest.raises(Failed, match="no figures"):
        best_epoch([], [])


def test_the_target_is_reached_at_it_or_below_it():
    assert first_at_or_below(ROWS, 3.0) == 2
    assert first_at_or_below(ROWS, 2.9) == 3
    assert first_at_or_below(ROWS, 1.9) is None


def test_seconds_of_training_are_pairs_over_speed():
    assert train_seconds(ROWS, 100) == 2 + 1 + 1


def test_a_ratio_needs_both_times():
    assert ratio(30.0, 12.0) == "2.50 ×"
    assert ratio(None, 12.0) == "–"


def test_ours_against_the_tutorial(programs, corpus, results):
    words = ["--peers", str(programs / "peers"), "--epochs", "2", "--corpus", str(corpus), "--results", str(results)]
    main(words)
    text = results.read_text("utf-8")
    assert "| tutorial | 3.000 | 2 | 60 | " in text
    assert "| keras_transformer (preset tutorial, precision auto) | 3.000 | 2 | " in text
    assert "did not reach" not in text


def test_a_known_target_needs_no_peer_and_ours_is_stopped_at_it(ours_is, tmp_path, corpus, results):
    ours_is(tmp_path / "ours.py", SLOW)
    main(["--target", "2.6", "--target-seconds", "9", "--corpus", str(corpus), "--results", str(results)])
    lines = results.read_text("utf-8").splitlines()
    assert "| tutorial, as given | 2.600 | – | 9 | – |" in lines
    mine = next(line.split(" | ") for line in lines if line.startswith("| keras_transformer"))
    assert mine[1:4] == ["2.500", "2", "3"]  # 90 or so training pairs at 45 and at 90 pairs/s.
    assert lines[lines.index(" | ".join(mine)) + 1].endswith("× | – |")


def test_a_target_that_is_not_reached_is_told(programs, corpus, results):
    main(["--target", "1.5", "--preset", "demo", "--corpus", str(corpus), "--results", str(results)])
    text = results.read_text("utf-8")
    assert "| keras_transformer (preset demo, precision auto) | 2.000 | 3 | " in text
    assert "Ours did not reach 1.500" in text
    assert "×" not in text


def test_a_tutorial_that_cannot_run_ends_it(programs, corpus, results):
    (programs / "peers" / "tutorial_train.py").write_text("import no_such_module")
    with pytest.raises(Failed, match="the tutorial: ModuleNotFoundError: No module named 'no_such_module'"):
        main(["--peers", str(programs / "peers"), "--corpus", str(corpus), "--results", str(results)])
    assert not results.exists()


@pytest.mark.parametrize("words", [[], ["--target-seconds", "9"]])
def test_without_a_target_there_is_nothing_to_measure(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "--target" in capsys.readouterr().err
