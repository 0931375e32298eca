"""The command `plot`: what it draws, what it says."""

import json
import shutil
import subprocess
import sys

import pytest

from keras_transformer import calibrate, preset
from keras_transformer.cli import main, plot
from keras_transformer.presets import count_parameters

pytestmark = pytest.mark.heavy


@pytest.fixture
def drawn(tmp_path, monkeypatch, capsys):
    """A function that calls `plot` in an empty folder and returns the figure that was saved."""
    monkeypatch.chdir(tmp_path)
    saved = []
    monkeypatch.setattr(plot, "save", lambda figure, path: saved.append((figure, path)))

    def call(*arguments):
        status = main.main(["plot", *map(str, arguments), "--output", "그림.png"])
        assert (status, *capsys.readouterr()) == (0, "그림.png\n", "")
        figure, path = saved.pop()
        assert path == "그림.png"
        return figure

    return call


@pytest.fixture
def edited(small_run, tmp_path):
    """A function that makes a copy of the run, with other settings."""

    def copy(**settings):
        run = shutil.copytree(small_run, tmp_path / f"run {len(list(tmp_path.iterdir()))}")
        about = json.loads((run / "config.json").read_text())
        about["config"] |= settings
        (run / "config.json").write_text(json.dumps(about))
        (run / "checksums.json").unlink()  # Of the config that was written.
        return run

    return copy


def labels(figure):
    return [text.get_text().split(":")[0] for text in figure.legends[0].get_texts()]


def test_a_picture_is_written_and_its_place_printed(call, tmp_path):
    done = call("plot", "positions", "--position", 9, "--output", tmp_path / "위치.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path / '위치.svg'}\n", "")
    assert "</svg>" in (tmp_path / "위치.svg").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["위치.svg"]


def test_refusals_are_those_of_the_calibration(drawn, edited):
    run = edited()
    calibrate(run, ["hello?", "잘 자 !", "thank you very much"])
    assert labels(drawn("refusals", run)) == [
        "in-domain questions, at most", "random Hangul", "random letters", "shuffled characters",
        "mixed words",
    ]  # fmt: skip


def test_positions_have_the_sizes_asked_for(drawn):
    figure = drawn("positions", "--position", 3, "--d-model", 4)
    assert figure.axes[0].images[0].get_array().shape == (3, 4)


def test_runs_are_compared(drawn, small_run, edited):
    other = edited()
    assert labels(drawn("training", small_run, other)) == ["run", other.name]


def test_the_schedule_of_a_preset_goes_on_for_ten_warm_ups(drawn):
    figure = drawn("schedule", "--preset", "demo", "base")
    assert labels(figure) == ["demo", "base"]
    assert [line.get_xdata()[-1] for line in figure.axes[0].lines] == [40_000, 40_000]
    assert drawn("schedule", "--preset", "base", "--steps", 7).axes[0].get_xlim() == (0, 7)


def test_the_schedule_of_a_run_goes_on_as_long_as_its_training(drawn, edited):
    run = edited(schedule="cosine", accumulate=2, epochs=80)  # Trained were 40.
    steps = json.loads((run / "summary.json").read_text())["epochs"]
    last = (run / "metrics.csv").read_text().splitlines()[-1].split(",")[1]
    updates = 80 * int(last) // steps // 2
    [line] = drawn("schedule", run).axes[0].lines
    assert line.get_xdata()[-1] == updates
    assert line.get_ydata()[-1] == pytest.approx(0, abs=1e-9)
    assert line.get_ydata()[-2] > 0


def test_the_model_of_a_preset_and_of_a_run(drawn, small_run):
    def written(*arguments):
        return [text.get_text() for text in drawn("model", *arguments).axes[0].texts]

    assert f"{count_parameters(preset('characters')):,} parameters" in written("--preset", "characters")
    assert "Multi-Head Attention (2 × 16)" in written(small_run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["training", "nowhere", "--output", "a.gif"], "a.gif: name a file that ends in .png, .svg, .pdf"),
        (["training", "nowhere", "--output", "no/a.png"], "no/a.png: there is no folder no"),
        (["training", "nowhere", "--output", "a.png"], "nowhere: there is no such run folder"),
        (["model", "nowhere", "--output", "a.png"], "nowhere: there is no such run folder"),
        (["positions", "--d-model", "0", "--output", "a.png"], "d_model must be a whole number of at least 1, not 0"),
        (
            ["schedule", "--preset", "characters", "--output", "a.png"],
            "characters: the length of its cosine schedule is unknown: add --steps N, the number of updates",
        ),
        (["schedule", "--preset", "demo", "--steps", "0", "--output", "a.png"], "steps must be a whole number of at"),
    ],
    ids=str,
)
def test_wrong_words_are_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["plot", *arguments]) == 2
    output, error = capsys.readouterr()
    assert output == ""
    assert error.startswith(f"keras-transformer: error: {message}") and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schedule", "--output", "a.png"], "one of the arguments RUN --preset is required"),
        (["model", "run", "--preset", "demo", "--output", "a.png"], "argument --preset: not allowed with argument RUN"),
        (["positions"], "the following arguments are required: --output"),
    ],
    ids=str,
)
def test_wrong_usage_is_status_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main.main(["plot", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named_before_anything_heavy_is_loaded(tmp_path):
    code = """
import sys
sys.modules["matplotlib"] = None
from keras_transformer.cli.main import main
status = main(["plot", "training", "nowhere", "--output", "a.png"])
assert not {"tensorflow", "keras"} & set(sys.modules)
sys.exit(status)
"""
    refused = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, encoding="utf-8")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "keras-transformer: error: a picture needs the package matplotlib, which is missing: "
        "pip install 'keras-transformer-trainer[visualize]'\n"
    )
