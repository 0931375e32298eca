import socket
import sys

import keras
import pytest

from keras_transformer import InputError, train_on_ray
from keras_transformer.cli.main import main
from keras_transformer.errors import WorkersLost
from keras_transformer.training.distributed import ray_launcher
from keras_transformer.training.distributed.ray_launcher import check_address, check_room


@pytest.fixture
def jax(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"workers": 0}, "workers on Ray must be 1 or more, not 0"),
        ({"retries": -1}, "retries on Ray must be 0 or more, not -1"),
        ({"gpus": -1}, "GPUs of a worker on Ray must be 0 or more, not -1"),
    ],
)
def test_what_can_be_on_no_cluster_is_one_line(jax, wanted, message):
    with pytest.raises(InputError) as refused:
        train_on_ray("pairs.csv", "run", **wanted)
    assert str(refused.value) == message


def test_other_backends_are_refused(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    with pytest.raises(InputError, match="requires the JAX backend: set KERAS_BACKEND=jax"):
        train_on_ray("pairs.csv", "run")


def test_where_ray_is_missing_it_is_said_how_to_get_it(jax, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "keras_transformer.training.distributed.ray_worker", raising=False)
    with pytest.raises(InputError) as refused:
        train_on_ray("pairs.csv", "run")
    assert str(refused.value) == (
        "training on Ray needs the package ray, which is missing: pip install 'keras-transformer-trainer[ray]'"
    )


def test_a_cluster_that_is_not_there_is_one_line_at_once():
    with pytest.raises(InputError, match=r"RAY_ADDRESS ray://a:1: must be the address of the head node, as in 10"):
        check_address("ray://a:1")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # Where nobody listens.
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=f"RAY_ADDRESS {address}: cannot be reached: Connection refused"):
            check_address(address)
        silent.listen()
        check_address(address)
    for word in ("", "auto", "local"):
        check_address(word)


def test_workers_are_placed_where_there_is_room():
    processors, cards = {"CPU": 4.0, "memory": 1e9}, {"CPU": 3.0, "GPU": 5.0}
    assert check_room([processors], 4, None) == 0
    assert check_room([processors, cards], 3, None) == 1
    assert check_room([processors, cards], 7, 0) == 0
    assert check_room([cards, cards], 4, 2) == 2


@pytest.mark.parametrize(
    ("machines", "workers", "gpus", "message"),
    [
        ([{"CPU": 2.0}], 3, None, "3 workers do not fit in: Ray has 2 CPUs and 0 GPUs on 1 machine, room for 2 with "
         "a CPU each"),
        ([{"CPU": 8.0, "GPU": 3.0}, {"CPU": 8.0, "GPU": 3.0}], 3, 2, "3 workers do not fit in: Ray has 16 CPUs and 6 "
         "GPUs on 2 machines, room for 2 with a CPU and 2 GPUs each"),
        ([{"CPU": 8.0, "GPU": 1.0}, {}], 2, None, "2 workers do not fit in: Ray has 8 CPUs and 1 GPUs on 2 machines, "
         "room for 1 with a CPU and 1 GPU each"),
    ],
)  # fmt: skip
def test_more_workers_than_there_is_room_for_are_refused(machines, workers, gpus, message):
    with pytest.raises(InputError) as refused:
        check_room(machines, workers, gpus)
    assert str(refused.value) == message


PLACED = "--ray-workers: Ray places the workers. Leave out --devices, --model-devices"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ray-gpus", "1"], "--ray-retries and --ray-gpus need --ray-workers"),
        (["--ray-retries", "1"], "--ray-retries and --ray-gpus need --ray-workers"),
        (
            ["--ray-workers", "2", "--devices", "2"],
            PLACED,
        ),
        (
            ["--ray-workers", "2", "--coordinator", "auto"],
            PLACED,
        ),
        (["--ray-workers", "0"], "workers on Ray must be 1 or more, not 0"),
    ],
)
def test_the_command_line_refuses_what_does_not_go_together(jax, tmp_path, capsys, options, message):
    (tmp_path / "pairs.csv").write_text("question,answer\na,b\n")
    assert main(["train", str(tmp_path / "pairs.csv"), "--run", str(tmp_path / "run"), *options]) == 2
    assert capsys.readouterr().err.startswith(f"keras-transformer: error: {message}")
    assert not (tmp_path / "run").exists()


def test_the_command_line_asks_for_what_it_is_told_and_says_how_it_ended(tmp_path, monkeypatch, capsys):
    asked = []

    def lost(*arguments, **settings):
        asked.append(settings)
        raise WorkersLost("worker 1 was lost")

    monkeypatch.setattr(ray_launcher, "train_on_ray", lost)
    (tmp_path / "pairs.csv").write_text("question,answer\na,b\n")
    command = ["train", str(tmp_path / "pairs.csv"), "--run", str(tmp_path / "run"), "--ray-workers", "4"]
    for options in ([], ["--ray-retries", "0", "--ray-gpus", "2"]):
        assert main([*command, *options]) == 1
        assert capsys.readouterr().err == "keras-transformer: failed: worker 1 was lost\n"
    files = {"tokenizer": None, "target_tokenizer": None, "settings": {}}
    assert asked == [
        {"workers": 4, "retries": 3, "gpus": None, **files}, {"workers": 4, "retries": 0, "gpus": 2, **files},
    ]  # fmt: skip
