"""The peers: alternatives to our program, each a script in a folder.

A training script takes a CSV file with the columns Q and A, trains a model with the sizes of our preset "tutorial", and
prints a JSON object per epoch: peer, epoch, pairs_per_s, train_s, bits_per_char. A decoding script takes no corpus, and
prints a JSON object per batch size: peer, batch, tokens, ms.
"""

import dataclasses
import json
import pathlib

from benchmarks.programs import Failed, steady_speed

THREADS = (1, 2)  # Numbers of threads to try with CTranslate2; the faster one counts.
BATCH = 64  # Pairs per batch, for every peer.
MOST_STEPS = 60  # Maximum steps per epoch of the tutorial, which is slow and has a constant speed.


@dataclasses.dataclass(frozen=True)
class Peer:
    """The script of a peer and its arguments.

    Attributes:
        name: The name in tables.
        precision: "float32" or "bfloat16".
        script: File name of the script.
        more: Additional arguments of the command.
    """

    name: str
    precision: str
    script: str
    more: tuple = ()


def peers_for(train_pairs):
    """Returns the peers of the training benchmark for a corpus with this number of training pairs."""
    # The tutorial counts the requested steps, even if the corpus has fewer.
    steps = max(1, min(MOST_STEPS, train_pairs // BATCH))
    return [
        Peer("tutorial", "float32", "tutorial_train.py", ("--steps", str(steps))),
        Peer("torch", "float32", "torch_train.py"),
        Peer("torch", "bfloat16", "torch_train.py", ("--bf16",)),
    ]


def peer_command(python, folder, peer, corpus, epochs):
    """Returns the command line that trains a peer; raises `Failed` if its script is missing."""
    script = pathlib.Path(folder) / peer.script
    if not script.is_file():
        raise Failed(f"no {peer.script} in the folder of the peers")
    return [python, script, corpus, "--epochs", str(epochs), *peer.more]


def read_epochs(output):
    """Returns the figures of each epoch from the output of a peer, which may contain other lines."""
    epochs = []
    for line in output.splitlines():
        try:
            figures = json.loads(line)
        except ValueError:
            continue  # Other output, or an incomplete line.
        if isinstance(figures, dict) and "pairs_per_s" in figures:
            epochs.append(figures)
    return epochs


def speed(output):
    """Returns the pairs per second of a peer, excluding the first epoch."""
    return steady_speed([epoch["pairs_per_s"] for epoch in read_epochs(output)])


def decoding_commands(python, folder, sizes):
    """Returns the names and the command lines of the decoding peers at the sizes of a preset.

    CTranslate2 occurs once per number of threads, each time with the same name.
    """
    script = pathlib.Path(folder) / "ctranslate2_decode.py"
    base = ["--base"] if sizes == "base" else []
    commands = [
        (f"CTranslate2 {kind}", [python, script, *base, "--type", kind, "--threads", str(threads)])
        for kind in ("float32", "int8")
        for threads in THREADS
    ]
    return commands if base else [*commands, ("tutorial", [python, script.with_name("tutorial_decode.py")])]
