import pytest

from keras_transformer import Config, InputError, Run, Tokenizer, plot_training
from keras_transformer.visualize.training import training_panels

COLUMNS = ["loss", "val_loss", "val_bits_per_char", "accuracy", "val_accuracy", "learning_rate"]
TITLES = ["Loss (nats per token)", "Bits per character", "Accuracy (share of tokens)", "Learning rate"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(["가나다 abc"], 400)


@pytest.fixture
def make(tokenizer, tmp_path):
    """A function that makes a run with some metrics, rows of numbers in the order of `COLUMNS`."""

    def run(name, rows, columns=COLUMNS, ended=True, **settings):
        path = tmp_path / name
        Run.create(path, Config(**settings), tokenizer, {})
        (path / "checksums.json").unlink()  # What follows is not recorded.
        if ended:
            (path / "summary.json").write_text('{"finished": true, "epochs": 1, "best_epoch": 1, "seconds": 1}')
        lines = [["epoch", *columns], *([epoch, *row] for epoch, row in enumerate(rows, 1))]
        (path / "metrics.csv").write_text("\n".join(",".join(map(str, line)) for line in lines))
        return path

    return run


def curves(axes):
    """The points of the lines of a panel, without the marks, by width, colour and style."""
    lines = [line for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xdata()) > 1]
    return {
        (line.get_linewidth(), line.get_color(), line.get_linestyle()): list(zip(*line.get_data())) for line in lines
    }


def marks(axes):
    """The best epochs that are marked in a panel."""
    return [tuple(map(float, line.get_xydata()[0])) for line in axes.lines if line.get_marker() == "o"]


def named(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_real_runs_curves_are_its_metrics(small_run):
    figure = plot_training(small_run)
    rows = Run(small_run).metrics()
    assert [axes.get_title() for axes in figure.axes] == TITLES
    drawn = [sorted(points for points in curves(axes).values()) for axes in figure.axes]
    columns = [["loss", "val_loss"], ["val_bits_per_char"], ["accuracy", "val_accuracy"], ["learning_rate"]]
    assert drawn == [sorted([(row["epoch"], row[name]) for row in rows] for name in names) for names in columns]
    summary = Run(small_run).summary()
    best, score = summary["best_epoch"], summary["val_bits_per_char"]
    assert marks(figure.axes[1]) == [(best, score)]
    assert marks(figure.axes[0]) == [(best, summary["val_loss"])]
    assert marks(figure.axes[3]) == []
    assert named(figure) == [f"run: best epoch {best} of 40, val_bits_per_char {score:.4f}"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "epoch", "epoch"]


def test_validation_is_thick_and_training_thin(make):
    run = make("a", [[4, 5, 3, 0.1, 0.2, 0.001], [2, 4, 1, 0.3, 0.1, 0.002]])
    loss, bits, accuracy, rate = map(curves, plot_training(run).axes)
    thin, thick = sorted(loss)
    assert thick[0] >= 2 * thin[0]
    assert loss == {thin: [(1, 4), (2, 2)], thick: [(1, 5), (2, 4)]}
    assert bits == {thick: [(1, 3), (2, 1)]}
    assert accuracy == {thin: [(1, 0.1), (2, 0.3)], thick: [(1, 0.2), (2, 0.1)]}
    assert rate == {thin: [(1, 0.001), (2, 0.002)]}


def test_several_runs_in_colours_and_line_styles_of_their_own(make):
    longer = make("긴 실행", [[4, 5, 3, 0.1, 0.2, 0.001], [2, 4, 1, 0.3, 0.1, 0.002], [1, 6, 2, 0.5, 0.1, 0.001]])
    shorter = make("$짧은$ 실행", [[3, 3, 0.5, 0.1, 0.2, 0.001], [2, 4, 1, 0.3, 0.1, 0.002]])
    figure = plot_training(longer, Run(shorter))
    (_, one, solid), (_, other, dashed) = curves(figure.axes[1])
    assert one != other and solid != dashed
    assert marks(figure.axes[1]) == [(2, 1), (1, 0.5)]
    assert named(figure) == [
        "긴 실행: best epoch 2 of 3, val_bits_per_char 1.0000",
        "$짧은$ 실행: best epoch 1 of 2, val_bits_per_char 0.5000",
    ]
    key = [(line.get_color(), line.get_linestyle()) for line in figure.legends[0].get_lines()]
    assert key == [(one, solid), (other, dashed)]
    assert not figure.legends[0].get_texts()[1].get_parse_math()


def test_runs_of_one_name_are_told_apart_by_their_paths(make):
    row = [4, 5, 3, 0.1, 0.2, 0.001]
    runs = make("a/run", [row]), make("b/run", [row]), make("c", [row])
    assert [name.split(": ")[0] for name in named(plot_training(*runs))] == [str(runs[0]), str(runs[1]), "c"]


def test_the_runs_own_monitor_says_which_epoch_is_best(make):
    run = make("a", [[4, 5, 3, 0.1, 0.75, 0.001], [2, 4, 1, 0.3, 0.5, 0.002]], monitor="val_accuracy")
    figure = plot_training(run)
    assert named(figure) == ["a: best epoch 1 of 2, val_accuracy 0.7500"]
    assert marks(figure.axes[1]) == [(1, 3)]


def test_a_training_that_has_not_ended_shows_what_there_is(make):
    figure = plot_training(make("a", [[4, 5, 3, 0.1, 0.2, 0.001]], ended=False))
    assert named(figure) == ["a: best epoch 1 of 1 so far, val_bits_per_char 3.0000"]
    training, _, _ = figure.axes[0].lines
    assert training.get_marker() == "."  # Of a line with one point, nothing else could be seen.


def test_a_column_that_older_runs_lack_is_said_to_be_missing(make):
    rate = plot_training(make("a", [[4, 5, 3, 0.1, 0.2]] * 2, COLUMNS[:-1])).axes[3]
    assert [text.get_text() for text in rate.texts] == ["not in metrics.csv"]
    assert not rate.lines


def test_no_runs_and_no_metrics_are_one_line(make):
    with pytest.raises(InputError, match="name at least one run to plot"):
        plot_training()
    with pytest.raises(InputError, match="empty: no metrics: no epoch has finished yet, or the export omitted"):
        plot_training(make("empty", []))


def test_each_panel_is_a_picture_by_itself(make):
    run = make("a", [[4, 5, 3, 0.1, 0.2, 0.001], [2, 4, 1, 0.3, 0.1, 0.002]])
    together, panels = plot_training(run).axes, training_panels(Run(run))
    assert list(panels) == TITLES
    for axes, figure in zip(together, panels.values()):
        [alone] = figure.axes
        assert sorted(map(str, curves(alone).items())) == sorted(map(str, curves(axes).items()))
        assert marks(alone) == marks(axes)
        assert (alone.get_title(), alone.get_xlabel()) == ("", "epoch")
        assert figure.get_figwidth() < 5


def test_a_panel_with_nothing_in_it_is_no_picture(make):
    assert list(training_panels(Run(make("a", [[4, 5, 3, 0.1, 0.2]] * 2, COLUMNS[:-1])))) == TITLES[:-1]
