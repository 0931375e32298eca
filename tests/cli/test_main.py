"""The command as its users start it, in a process of its own where that makes a difference."""

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from keras_transformer.chat.answering import RETRIEVE, Answering
from keras_transformer.cli.generation_options import tell_unfinished
from keras_transformer.cli.main import main, parser
from keras_transformer.runs.lock import locked
from keras_transformer.runs.run import Run

pytestmark = pytest.mark.heavy

COMMAND = [sys.executable, "-m", "keras_transformer"]
SIZES = [
    "--preset",
    "small",
    "--num-layers",
    "1",
    "--d-model",
    "16",
    "--num-heads",
    "2",
    "--dff",
    "16",
    "--vocab-size",
    "500",
    "--batch-size",
    "16",
    "--warmup-steps",
    "50",
    "--patience",
    "0",
]


def start(*arguments, stdin=b"", **options):
    """Calls the command in a process of its own."""
    arguments = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(arguments, input=stdin, capture_output=True, timeout=300, check=False, **options)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "pairs.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["질문", "답변"])
        rows.writerows([f"질문 {i}번", f"대답 {i % 5}"] for i in range(120))
    return path


def one_error_line(process):
    """The last line of standard error, with no traceback above it."""
    assert "Traceback" not in process.stderr
    assert process.stdout == ""
    return process.stderr.strip().splitlines()[-1]


def test_answer_reads_lines_and_writes_lines(small_run):
    questions = "잘 자\n\nhello\r\n고마워!\n".encode()
    process = start("answer", small_run, stdin=questions)
    assert process.returncode == 0
    assert process.stdout == "좋은 꿈 꾸세요.\n\nHi there!\n천만에요.\n"
    assert process.stderr == ""


@pytest.mark.slow  # Starts a program.
def test_answer_is_the_same_in_a_plain_c_locale(small_run):
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = start("answer", small_run, stdin="\ufeff잘 자\n".encode(), env=plain)
    assert process.stdout == "좋은 꿈 꾸세요.\n"


@pytest.mark.slow  # Starts a program.
def test_help_with_its_greek_letters_is_the_same_in_a_plain_c_locale():
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = start("train", "--help-all", env=plain)
    assert process.returncode == 0
    assert "ε_ls" in process.stdout


def test_several_answers_to_each_question(call, small_run):
    process = call("answer", small_run, "--beam", "3", "--n-best", "2", stdin="잘 자\n\nhello\n".encode())
    lines = [line.split("\t") for line in process.stdout.splitlines()]
    assert [answer for _, answer in lines[::2]] == ["좋은 꿈 꾸세요.", "", "Hi there!"]
    assert len(lines) == 6
    assert all(float(score) <= 0 for score, _ in lines)


def test_answers_as_json(call, small_run):
    process = call("answer", small_run, "--json", "--n-best", "2", stdin="잘 자\n".encode())
    found = json.loads(process.stdout)
    assert found["question"] == "잘 자"
    assert [set(answer) for answer in found["answers"]] == [{"answer", "score", "answered_by", "unsure", "sources"}] * 2
    assert found["answers"][0]["answered_by"] == "generate"
    assert found["answers"][0]["answer"] == "좋은 꿈 꾸세요."


def test_a_question_of_the_command_line(call, small_run):
    process = call("answer", small_run, "good night", "잘 자", "hello " + "없" * 200, stdin=b"")
    assert process.stdout.splitlines()[:2] == ["Sleep well.", "좋은 꿈 꾸세요."]
    assert len(process.stdout.splitlines()) == 3


def test_questions_and_texts_may_follow_options(call, small_run):
    process = call("answer", small_run, "good night", "--beam", "2", "--json", "잘 자", "hello")
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert [answer["question"] for answer in answers] == ["good night", "잘 자", "hello"]
    assert (
        call("tokenize", small_run, "--json", "잘 자").stdout == call("tokenize", small_run, "잘 자", "--json").stdout
    )


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("runs/secnod", "runs/secnod: there is no such run folder; did you mean runs/second?"),
        ("secnod", "secnod: there is no such run folder; did you mean second?"),
        ("nowhere/at/all", "nowhere/at/all: there is no such run folder"),
    ],
)
def test_a_misspelled_second_run_is_no_question(call, word, message, small_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("second", "runs/second"):
        (tmp_path / name).symlink_to(small_run)
    process = call("answer", small_run, word)
    assert (process.returncode, process.stderr) == (2, f"keras-transformer: error: {message}\n")


@pytest.mark.parametrize("word", ["renew", "folder"])
def test_a_question_of_one_word_that_is_only_a_little_like_a_run_or_names_a_folder_is_answered(
    call, word, small_run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rmine").symlink_to(small_run)
    (tmp_path / "foldre").mkdir()
    assert call("answer", "rmine", word).returncode == 0


def test_several_runs_answer_together(call, small_run):
    process = call("answer", small_run, small_run, "--beam", "2", "--json", stdin="잘 자\n".encode())
    [answer] = json.loads(process.stdout)["answers"]
    assert (answer["answer"], answer["answered_by"], answer["sources"]) == ("좋은 꿈 꾸세요.", "generate", [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cite"], "--cite is for one run: leave it out, or name one run"),
        (["--fallback", "?"], "--fallback is for one run: leave it out, or name one run"),
        (["--answer-by", "hybrid"], "several runs generate their answers: leave out --answer-by, or name one run"),
    ],
)
def test_what_several_runs_cannot_do_is_refused(call, options, message, tmp_path):
    process = call("answer", tmp_path, tmp_path, *options)
    assert (process.returncode, process.stderr) == (2, f"keras-transformer: error: {message}\n")


@pytest.fixture
def retrieving_run(small_run, tmp_path):
    """A run that retrieves its answers."""
    shutil.copytree(small_run, tmp_path / "run")
    Answering(RETRIEVE).save(tmp_path / "run")
    return tmp_path / "run"


def test_a_typed_question_that_is_not_known_has_a_hint_beside_its_answer(call, retrieving_run):
    process = call("answer", retrieving_run, "hello", "hello 환불 절차가 궁금합니다")
    assert process.stdout == "Hi there!\nHi there!\n"
    assert process.stderr == "  Not sure: the nearest known question is “hello”.\n"
    process = call("answer", retrieving_run, stdin="hello 환불 절차가 궁금합니다\n".encode())
    assert (process.stdout, process.stderr) == ("Hi there!\n", "")


def test_a_bot_that_memorized_its_corpus_replies_to_who_asks_about_itself(call, retrieving_run):
    run = Run(retrieving_run)
    run.change_config(run.config.replace(hold_out=False))
    process = call("answer", run.path, "누구세요?", "hello")
    assert process.stdout.splitlines() == [
        "정해진 질문에 답하는 봇입니다. 예를 들어 이런 것을 물어보세요.",
        "Hi there!",
    ]
    assert process.stderr.splitlines() == ["  - 안녕하세요", "  - 고마워", "  - 잘 자"]
    [answer] = json.loads(call("answer", run.path, "누구세요?", "--json").stdout)["answers"]
    assert answer["unsure"] and "봇입니다" not in answer["answer"]


@pytest.mark.parametrize("command", ["answer", "chat"])
def test_a_run_that_has_not_been_trained_to_the_end_is_told(call, retrieving_run, command, capsys):
    tell_unfinished(retrieving_run)
    (retrieving_run / "summary.json").unlink()
    (retrieving_run / "export.json").write_text("{}")
    tell_unfinished(retrieving_run)
    assert not capsys.readouterr().err
    (retrieving_run / "export.json").unlink()
    process = call(command, retrieving_run, stdin=b"hello\n")
    assert process.stdout == "Hi there!\n"
    assert process.stderr == (
        f"{retrieving_run}: training has not finished. If it has stopped, run the same train command to finish it.\n"
    )


@pytest.mark.parametrize(
    ("command", "arguments", "output"),
    [
        ("answer", ["--cite"], "Hi there!\n  [1.00] pair "),
        ("answer", ["--json"], '{"question": "hello", "answers": [{"answer": "Hi there!", "score": null, '),
        ("chat", [], "Hi there!\n"),
        ("teach", ["hello", "Howdy!"], "Taught: hello → Howdy!"),
        ("forget", ["hello"], "Forgotten: hello → Hi there!"),
        ("info", [], "kind      run, "),
    ],
)
def test_what_generates_no_answer_imports_no_framework(retrieving_run, command, arguments, output):
    program = """if True:
        import sys
        from keras_transformer.cli.main import main
        status = main(sys.argv[1:])
        print(*sorted({"jax", "keras", "sklearn", "tensorflow", "torch"} & set(sys.modules)), file=sys.stderr)
        sys.exit(status)"""
    words = [sys.executable, "-c", program, command, retrieving_run, *arguments]
    process = subprocess.run(words, input=b"hello\n", capture_output=True, timeout=300, check=True)
    assert process.stdout.decode().startswith(output)
    assert process.stderr == b"\n"


def test_checking_a_corpus_imports_no_framework(corpus):
    program = (
        "import sys; from keras_transformer.cli.main import main; main(sys.argv[1:]); "
        "assert not {'jax', 'keras', 'tensorflow', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, "data", "check", corpus], capture_output=True, check=True)


def test_the_same_seed_samples_the_same_answers(call, small_run):
    words = ["answer", small_run, "--sample", "--temperature", "3", "--n-best", "4", "--seed"]
    one, same, other = (call(*words, seed, stdin=b"hello\n").stdout for seed in ("1", "1", "2"))
    assert one == same != other
    assert len(set(one.splitlines())) > 1


def test_chat_without_a_terminal_answers_line_by_line_and_nothing_else(call, small_run):
    process = call("chat", small_run, stdin="안녕하세요\n\nbye\n漢字\n".encode())
    assert process.returncode == 0
    first, blank, second, honest = process.stdout.splitlines()
    assert (first, blank, second) == ("반가워요!", "", "See you soon!")
    assert honest == "I do not know any of these characters: 漢 字"


def test_text_that_is_not_utf8_is_named_by_its_line(call, small_run):
    process = call("answer", small_run, stdin="안녕\n".encode() + "안녕\n".encode("cp949"))
    assert process.returncode == 2
    assert one_error_line(process) == "keras-transformer: error: standard input: line 2 is not UTF-8"


@pytest.mark.slow  # Starts a program.
def test_closed_standard_input_is_no_question(small_run):
    process = subprocess.run(f"{sys.executable} -m keras_transformer answer {small_run} <&-", shell=True, check=True)
    assert process.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.slow  # Starts a program.
def test_a_full_disk_is_one_line_and_status_1(small_run):
    with open("/dev/full", "wb") as full:
        command = [*COMMAND, "answer", str(small_run)]
        process = subprocess.run(command, input=b"hello\n", stdout=full, stderr=subprocess.PIPE, check=False)
    assert process.returncode == 1
    assert process.stderr.decode().splitlines()[0] == "keras-transformer: failed: No space left on device"


@pytest.mark.slow  # Starts a program.
def test_a_reader_that_leaves_early_is_no_drama(small_run):
    pipe = subprocess.Popen(
        [*COMMAND, "chat", str(small_run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    pipe.stdout.close()
    pipe.stdin.write(b"hello\n" * 50)
    pipe.stdin.close()
    assert b"Traceback" not in pipe.stderr.read()
    pipe.stderr.close()
    assert pipe.wait(timeout=300) == 1


@pytest.mark.filterwarnings("default")  # Shown, as in a process of its own.
def test_train_makes_a_run_and_says_what_comes_next(call, corpus, tmp_path):
    with open(corpus, "a", encoding="utf-8") as file:
        file.write("대답이 없는 질문,\n")
    process = call("train", corpus, "--run", tmp_path / "run", "--epochs", 1, *SIZES)
    progress = process.stderr
    assert (process.returncode, process.stdout) == (0, "")
    assert "pairs.csv: 1 of 121 rows left out: row 122: no answer" in progress
    assert "CPU" in progress or "GPU" in progress
    assert progress.strip().endswith(f"keras-transformer chat {tmp_path / 'run'}")
    settings = json.loads((tmp_path / "run/config.json").read_text())
    assert settings["config"]["d_model"] == 16
    assert settings["corpus"]["pairs"] == 120


def test_train_says_what_it_chose_and_options_go_before_it(call, corpus, tmp_path):
    process = call("train", corpus, "--run", tmp_path / "run", *SIZES[2:], "--epochs", 2, "--warmup-steps", 5)
    assert process.returncode == 0, process.stderr
    chosen = "Chosen for chat: question–answer pairs to memorize (120 pairs); 500 pieces, 1 layer of 16, 2 epochs"
    progress = process.stderr.splitlines()
    assert progress[0] == f"{chosen}, nothing held out."
    settings = json.loads((tmp_path / "run/config.json").read_text())["config"]
    assert (settings["epochs"], settings["num_layers"], settings["warmup_steps"]) == (2, 1, 5)
    assert (settings["schedule"], settings["hold_out"], settings["tie_embeddings"]) == ("cosine", False, True)

    again = call("train", corpus, "--run", tmp_path / "run", "--epochs", 2)
    assert again.returncode == 0 and "Nothing left to train" in again.stderr
    assert "Chosen for" not in again.stderr


@pytest.mark.slow  # Starts a program; a signal within one is tested in seconds.
def test_ctrl_c_stops_training_and_the_same_command_goes_on(call, corpus, tmp_path):
    arguments = ["train", str(corpus), "--run", str(tmp_path / "run"), "--epochs", "400", *SIZES]
    process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE)
    while not (tmp_path / "run/metrics.csv").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    progress = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 130
    assert "Traceback" not in progress
    assert "Run the same command to resume." in progress
    stopped = len((tmp_path / "run/metrics.csv").read_text().splitlines()) - 1
    assert 1 <= stopped < 400

    assert call("answer", tmp_path / "run", stdin="질문\n".encode()).returncode == 0

    arguments[arguments.index("400")] = str(stopped + 2)
    again = call(*arguments)
    assert again.returncode == 0
    assert "Resuming at step" in again.stderr
    epochs = [line.split(",")[0] for line in (tmp_path / "run/metrics.csv").read_text().splitlines()[1:]]
    assert epochs == [str(epoch + 1) for epoch in range(stopped + 2)]


def test_a_file_says_what_to_train_and_the_run_folder_holds_one_to_repeat_it(call, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    korean = corpus.rename(tmp_path / "대화 쌍.csv")
    entries = [f"{option[2:].replace('-', '_')} = {value}" for option, value in zip(SIZES[2::2], SIZES[3::2])]
    entries.append('preset = "small"')
    text = "\n".join(
        ['corpus = "대화 쌍.csv"', 'run = "실행"', "epochs = 2", "label_smoothing = 0.1", "keep_epochs = 1", *entries]
    )
    (tmp_path / "설정.toml").write_text(text, encoding="utf-8")
    process = call("train", "--config", "설정.toml", "--epochs", 1)
    assert process.returncode == 0, process.stderr
    first = json.loads((tmp_path / "실행/config.json").read_text("utf-8"))
    assert (first["config"]["epochs"], first["config"]["label_smoothing"]) == (1, 0.1)
    assert first["corpus"]["name"] == "대화 쌍.csv"
    assert first["corpus"]["source"]["corpus"] == [str(korean)]

    again = call("train", "--config", tmp_path / "실행/config.toml", "--run", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    second = json.loads((tmp_path / "again/config.json").read_text("utf-8"))
    assert (second["config"], second["corpus"]) == (first["config"], first["corpus"])
    losses = [(tmp_path / run / "metrics.csv").read_text().splitlines()[1].split(",")[1] for run in ("실행", "again")]
    assert losses[0] == losses[1]

    average = call("average", "실행", "--last", 1)
    score, once_more, nothing = average.stdout.splitlines()
    assert score.endswith(" validation bits per character: epoch 1")
    assert once_more == score.replace("epoch 1", "the average of epochs 1")
    assert nothing == "Nothing is changed; --keep makes it the run's weights."


def test_presets_are_a_table_or_json(call):
    table = call("presets").stdout
    assert ["base", "6", "512", "8", "2,048", "37,000", "63.1", "M", "1.26", "GB"] in map(str.split, table.splitlines())
    small = json.loads(call("presets", "--json").stdout)["small"]
    assert (small["patience"], small["parameters"]) == (3, 8_935_424)
    purpose = "up to ten million tokens of text, on a laptop: the tutorial's sizes, with early stopping"
    assert small["purpose"] == purpose and f"     small  for {purpose}" in table


def test_one_training_at_a_time_and_talking_meanwhile(call, corpus, small_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run"):
        process = call("train", corpus, "--run", "run", *SIZES)
    assert process.returncode == 2
    assert one_error_line(process) == (
        f"keras-transformer: error: run: another training (process {os.getpid()}) is writing to it; "
        "wait for it, or name another run folder"
    )
    assert os.listdir(tmp_path / "run") == ["lock"]
    with locked(small_run):
        assert call("answer", small_run, stdin=b"hello\n").stdout == "Hi there!\n"


@pytest.mark.slow
def test_training_on_a_full_disk_is_one_line_and_status_1(call, corpus, tmp_path, monkeypatch):
    """A limit of file sizes stands for the full disk: the operating system refuses the write as well."""
    resource = pytest.importorskip("resource")
    monkeypatch.chdir(tmp_path)
    arguments = ["train", corpus, "--run", "run", *SIZES, "--epochs"]
    assert call(*arguments, 1).returncode == 0
    names = ["checkpoint.safetensors", "weights.safetensors", "metrics.csv"]
    before = [(tmp_path / "run" / name).read_bytes() for name in names]
    limit = 200_000

    monkeypatch.delenv("TF_XLA_FLAGS", raising=False)  # The files of compiled programs may be larger than the limit.
    process = start(*arguments, 2, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert process.returncode == 1
    assert re.fullmatch(
        r"keras-transformer: failed: limit of file sizes reached: could not write run/checkpoint\.safetensors "
        r"\(needs \d+ kB\); what was saved before is intact: make room and run the same command again",
        one_error_line(process),
    )
    assert [(tmp_path / "run" / name).read_bytes() for name in names] == before
    assert not list((tmp_path / "run").glob(".*.part"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "no.csv", "--run", "r"], "no.csv"),
        (["train", "empty.csv", "--run", "r"], "empty.csv: no question-answer pair in it"),
        (["train", "korean.csv", "--run", "r", "--encoding", "utf-8"], "the file is cp949: give --encoding cp949"),
        (["train", "few.csv", "--run", "r", "--hold-out"], "the corpus is too small"),
        (["train", "few.csv", "--run", "r", "--preset", "demo"], "the corpus is too small"),
        (["train", "few.csv", "--run", "r", "--d-model", "10", "--num-heads", "3"], "split into 3 equal heads"),
        (["train", "few.csv", "--run", "r", "--epochs", "many"], "argument --epochs: invalid int value: 'many'"),
        (["train", "few.csv", "--run", "r", "--schedule", "linear"], "schedule must be one of paper, inverse_sqrt"),
        (["train", "few.csv", "--run", "r", "--presett", "demo"], "arguments: --presett demo; did you mean --preset?"),
        (["data", "show", "few", "a\n\x1b[2Jb"], r"unrecognized arguments: a\n\u001b[2Jb"),
        (["data", "check", "few.csv", "--tunrs=2"], "arguments: --tunrs=2; did you mean --turns?"),
        (["info", "r", "x"], "unrecognized arguments: x"),
        (["answer", "r", "--cite", "hi", "--jsno"], "unrecognized arguments: hi --jsno; did you mean --json?"),
        (["train", "few.csv"], "name the folder of the run, such as --run runs/few"),
        (["train", "--run", "r"], "the following arguments are required: CORPUS"),
        (["train", "few.csv", "--run", "r", "--config", "bad.toml"], "bad.toml: epochs must be a whole number"),
        (["train", "--config", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["train", "few.csv", "--run", "r", "--from", "folder"], "config.json: missing; this is not a run folder"),
        (["answer", "nowhere"], "nowhere: there is no such run folder"),
        (["answer", "nowhere", "--top-p", "0.9"], "--top-p needs --sample"),
        (["chat", "nowhere", "--beam", "2", "--n-best", "3"], "2 beams cannot find 3 answers: take more beams"),
        (["average", "nowhere", "--best", "2"], "nowhere: there is no such run folder"),
        (["average", "nowhere"], "one of the arguments --last --best is required"),
        (["chat", "folder"], "config.json: missing; this is not a run folder"),
        (["chat", "few.csv"], "few.csv: a file, not the folder of a run"),
        (["train", "few.ods", "--run", "r"], "few.ods: a spreadsheet; save it as CSV UTF-8, and name that file"),
        (["train", "cut.xlsx", "--run", "r"], "cut.xlsx: damaged, or not XLSX: open it in a spreadsheet program"),
        (["train", "cut.parquet", "--run", "r"], "cut.parquet: cannot be read: Parquet magic bytes not found"),
        (["train", "cut.yml", "--run", "r"], "cut.yml: line 4: not YAML: expected the node content"),
        (["train", "alone.txt", "--run", "r"], "alone.txt: no pair in this KakaoTalk chat: a pair is a message and"),
        (["sing"], "invalid choice: 'sing' (choose from"),
        (["tarin", "few.csv"], "keras-transformer: error: unknown command: tarin; did you mean train?"),
        (["data", "chekc", "few.csv"], "keras-transformer data: error: unknown command: chekc; did you mean check?"),
        (["train", "few.csv", "--preset", "bsae"], "--preset: invalid choice: 'bsae'; did you mean base?"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_and_status_2(call, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "few.csv").write_text("question,answer\nhi,hello\n")
    (tmp_path / "korean.csv").write_bytes("질문,답변\n안녕,반가워\n".encode("cp949"))
    (tmp_path / "bad.toml").write_text("epochs = true")
    (tmp_path / "folder").mkdir()
    for name in ("cut.xlsx", "cut.parquet", "few.ods"):
        (tmp_path / name).write_bytes(b"PK or PAR1, and no more")
    (tmp_path / "cut.yml").write_text("conversations:\n- - hi\n  - [\n")
    (tmp_path / "alone.txt").write_text("Date Saved : May 2, 2023 at 10:00\nMay 1, 2023 at 15:15, Jimin : hi\n")
    process = call(*arguments)
    assert process.returncode == 2
    assert message in one_error_line(process)
    assert not (tmp_path / "r").exists()


def test_a_mistyped_corpus_is_refused_before_tensorflow_is_imported(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("keras_transformer.cli.main.import_tensorflow_quietly", lambda: pytest.fail("too early"))
    process = call("train", "no.csv", "--run", "r")
    assert (process.returncode, process.stderr) == (2, "keras-transformer: error: no.csv: no such file\n")


@pytest.mark.parametrize(
    "command",
    [
        [], ["data"], ["data", "list"], ["data", "show"], ["data", "download"], ["train"], ["chat"], ["answer"],
        ["average"], ["evaluate"], ["presets"], ["plot"], ["plot", "training"], ["plot", "schedule"],
        ["plot", "positions"], ["plot", "model"],
    ],
)  # fmt: skip
def test_every_command_has_help_with_an_example(call, command):
    process = call(*command, "--help")
    assert process.returncode == 0
    assert "keras-transformer train" in process.stdout or "Example:" in process.stdout


@pytest.mark.parametrize("command", [[], ["data"], ["plot"]])
def test_a_command_alone_shows_what_there_is(command, capsys):
    assert main(command) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert shown == capsys.readouterr().out and "Example" in shown


def test_the_front_door_has_an_example_of_each_command_in_the_order_of_use():
    top = parser()
    examples = [shlex.split(line.split(" <")[0]) for line in top.epilog.splitlines()[1:]]
    verbs = [verb for _, verb, *_ in examples]
    assert verbs[:4] == ["demo", "data", "train", "chat"] and len(set(verbs)) == len(verbs)
    assert re.findall(r"^    ([\w-]+)(?: |$)", top.format_help(), re.MULTILINE) == verbs
    for program, *words in examples:
        assert program == "keras-transformer"
        assert callable(top.parse_args(words).command)


def test_tokenize_names_an_argument_that_is_not_utf_8(call):
    process = call("tokenize", "nowhere", "a", os.fsdecode(b"\xff"))
    assert process.returncode == 2
    assert "text 2 is not UTF-8" in one_error_line(process)


def test_tokenize_shows_pieces_and_ids_and_names_what_is_unknown(call, small_run):
    process = call("tokenize", small_run, "안녕 漢")
    pieces, ids = (line.split("\t") for line in process.stdout.splitlines())
    assert "".join(pieces).startswith("▁안녕▁<0x") and len(pieces) == len(ids)
    assert process.stderr == "unknown to this run: 漢\n"
    found = json.loads(call("tokenize", small_run, "--json", stdin="안녕 漢\n".encode()).stdout)
    assert found == {"text": "안녕 漢", "pieces": pieces, "ids": list(map(int, ids)), "unknown": ["漢"]}
