"""What users could run instead: a folder with the peers' scripts, and the lines that these print.

Each script takes a CSV file with the columns Q and A, trains the sizes of our preset "tutorial" on it, and prints a
JSON object per epoch: peer, epoch, pairs_per_s, train_s, bits_per_char. Those that decode take no corpus, and print one
per batch size: peer, batch, tokens, ms.
"""

import dataclasses
import json
import pathlib

from benchmarks.programs import Failed, steady_speed

THREADS = (1, 2)  # That CTranslate2 gets; the faster counts.
BATCH = 64  # Pairs in a batch of every peer.
MOST_STEPS = 60  # Of an epoch of the tutorial, which is slow, and as fast in every batch.


@dataclasses.dataclass(frozen=True)
class Peer:
    """A peer's script and how it is started.

    Attributes:
        name: What tables call it.
        precision: "float32" or "bfloat16".
        script: File name of the script.
        more: Further words of its command.
    """

    name: str
    precision: str
    script: str
    more: tuple = ()


def peers_for(train_pairs):
    """The peers of the training benchmark, for a corpus of so many training pairs."""
    # The tutorial counts the steps that it was asked for, even where the corpus has fewer.
    steps = max(1, min(MOST_STEPS, train_pairs // BATCH))
    return [
        Peer("tutorial", "float32", "tutorial_train.py", ("--steps", str(steps))),
        Peer("torch", "float32", "torch_train.py"),
        Peer("torch", "bfloat16", "torch_train.py", ("--bf16",)),
    ]


def peer_command(python, folder, peer, corpus, epochs):
    """The words that train a peer; raises `Failed` if the folder lacks its script."""
    script = pathlib.Path(folder) / peer.script
    if not script.is_file():
        raise Failed(f"no {peer.script} in the folder of the peers")
    return [python, script, corpus, "--epochs", str(epochs), *peer.more]


def read_epochs(output):
    """The figures of each epoch, among whatever else a peer prints."""
    epochs = []
    for line in output.splitlines():
        try:
            figures = json.loads(line)
        except ValueError:
            continue  # Not a figure, or a line of which only the beginning has been written yet.
        if isinstance(figures, dict) and "pairs_per_s" in figures:
            epochs.append(figures)
    return epochs


def speed(output):
    """A peer's pairs per second, the first epoch left out."""
    return steady_speed([epoch["pairs_per_s"] for epoch in read_epochs(output)])


def decoding_commands(python, folder, sizes):
    """The peers that decode at the sizes of a preset: names, and the words that start them.

    CTranslate2 comes once for each number of threads, under one name.
    """
    script = pathlib.Path(folder) / "ctranslate2_decode.py"
    base = ["--base"] if sizes == "base" else []
    commands = [
        (f"CTranslate2 {kind}", [python, script, *base, "--type", kind, "--threads", str(threads)])
        for kind in ("float32", "int8")
        for threads in THREADS
    ]
    return commands if base else [*commands, ("tutorial", [python, script.with_name("tutorial_decode.py")])]
