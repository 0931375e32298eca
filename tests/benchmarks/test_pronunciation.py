import pytest

from benchmarks import pronunciation
from keras_transformer import preset
from keras_transformer.config_file import read_config_file

OURS = """
import argparse, json, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("command")
parser.add_argument("path")
for name in ("run", "validation", "config", "seed", "beam"):
    parser.add_argument(f"--{name}")
options = parser.parse_args()
if options.command == "train":
    run = pathlib.Path(options.run)
    run.mkdir(exist_ok=True)
    (run / "knows").write_text(pathlib.Path(options.path).read_text() + options.seed)
    kept = run / "summary.json"
    seconds = json.loads(kept.read_text())["seconds"] if kept.exists() else 0
    kept.write_text(json.dumps({"seconds": seconds + 60}))
else:
    knows = (pathlib.Path(options.path) / "knows").read_text()
    for word in sys.stdin.read().splitlines():
        print("ʃ a" if word == "chat" or knows.endswith("1") else "b a")
"""


@pytest.fixture
def files(tmp_path, ours_is):
    ours_is(tmp_path / "ours.py", OURS)
    for split in ("train", "dev", "test"):
        (tmp_path / f"fre_{split}.tsv").write_text("chat\tʃ a\nbas\tb a\nbah\tb a\ncha\tʃ a\n", "utf-8")
    return tmp_path


def test_a_word_is_wrong_unless_all_its_phones_are_right(files, results):
    pronunciation.main([str(files), "--languages", "fre", "--seeds", "0", "1", "--results", str(results)])
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| French")]
    # With seed 0 the stand-in says "ʃ a" to "chat" alone and errs in "cha"; with seed 1 always: two of four.
    assert row.startswith("| French | 37.50 | 25.00, 50.00 | 37.50 | 6.89 | 6.00 | 1 |")


def test_runs_that_are_kept_go_on(files, results):
    runs = files / "runs"
    runs.mkdir()
    words = [str(files), "--languages", "fre", "--seeds", "1", "--runs", str(runs), "--results", str(results)]
    pronunciation.main(words)
    assert (runs / "fre_1" / "knows").read_text().startswith("chat\tʃ a\nbas\tb a\nbah\tb a\ncha\tʃ a\nchat ")
    pronunciation.main(words)  # With the stand-in, one more minute of the same training.
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| French")]
    assert row.endswith("| 2 |")


def test_each_word_is_trained_alone_and_once_beside_another(files):
    words, phones = pronunciation.read_words(files / "fre_train.tsv")
    rows = pronunciation.joined(words, phones)
    assert rows[:4] == [("chat", "ʃ a"), ("bas", "b a"), ("bah", "b a"), ("cha", "ʃ a")]
    says = dict(rows[:4])
    firsts, seconds = zip(*(pair.split(" ") for pair, _ in rows[4:]), strict=True)
    assert [*firsts] == words and sorted(seconds) == sorted(words)
    assert [said for _, said in rows[4:]] == [
        f"{says[first]} # {says[second]}" for first, second in zip(firsts, seconds, strict=True)
    ]
    assert rows == pronunciation.joined(words, phones)


def test_the_settings_can_be_trained_with():
    settings, rest = read_config_file(pronunciation.SETTINGS)
    assert (rest, settings["epochs"]) == ({"preset": "characters"}, 100)
    assert preset(rest["preset"]).replace(**settings).target_tokenizer == "word"


def test_a_missing_file_is_named(files, results):
    (files / "fre_test.tsv").unlink()
    with pytest.raises(pronunciation.InputError, match=r"fre_test\.tsv: No such file"):
        pronunciation.main([str(files), "--languages", "fre", "--seeds", "0", "--results", str(results)])
    assert not results.exists()


def test_what_the_program_says_last_is_the_failure(files, ours_is, tmp_path):
    ours_is(tmp_path / "broken.py", "import sys; sys.exit('no such run')")
    with pytest.raises(pronunciation.Failed, match="no such run"):
        pronunciation.word_error_rate(tmp_path, files / "fre_dev.tsv", 5)
