"""How good are our answers to questions of a Korean chat corpus, compared with other systems?

    python -m benchmarks.korean_chatbot ChatbotData.csv --peers FOLDER [--peers-python PYTHON]

All systems answer the same unseen questions: the most frequent answer, the answer to the most similar training
question, the peers, and ours. Systems that learn are trained with each seed. Answers and runs are kept in the work
folder, so that the same command resumes an interrupted benchmark. A system that fails is left out, and the others
continue. The document is rewritten as a whole; that of the validation split is only printed, unless --results names a
file.
"""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.command import add_peer_folder, at_least, provenance, say, start
from benchmarks.corpus import Corpus
from benchmarks.korean_chatbot import baselines, report, systems
from benchmarks.korean_chatbot.exam import Exam, WorkFolder
from benchmarks.korean_chatbot.options import make_parser, settings_file
from benchmarks.korean_chatbot.scoring import scored
from benchmarks.korean_chatbot.ways import RETRIEVAL
from benchmarks.programs import Failed
from benchmarks.results import write_atomically
from keras_transformer import PRESETS

NAME = "korean_chatbot"
DOCUMENT = pathlib.Path(__file__).parents[1] / "KOREAN_CHATBOT.md"
CHOSEN = {
    "likeliest": ["greedy"],
    "regularised": ["greedy", RETRIEVAL],
    "by heart": ["greedy", "beam 4, length penalty 0", "32 samples at temperature 0.7, by neighbours", RETRIEVAL],
}
"""The settings that the search found, by the names of their files here, and the ways that each is asked in."""


def parse(arguments):
    """Parses the command line."""
    parser = make_parser(NAME, __doc__, DOCUMENT)
    add_peer_folder(parser)
    parser.add_argument(
        "--peer-epochs", type=at_least(1), default=50, metavar="N", help="maximum epochs of a peer (default: 50)"
    )
    parser.add_argument(
        "--presets", choices=PRESETS, nargs="+", default=["small"], help="presets of ours (default: small)"
    )
    parser.add_argument("--seeds", type=at_least(0), nargs="+", default=[0, 1, 2], metavar="N", help="default: 0 1 2")
    parser.add_argument(
        "--tutorial-seeds", type=at_least(0), nargs="+", metavar="N",
        help="seeds of the tutorial, which trains longest (default: as --seeds)",
    )  # fmt: skip
    parser.add_argument("--split", choices=("test", "validation"), default="test", help="dataset split (default: test)")
    options = parser.parse_args(arguments)
    options.seeds, options.presets = list(dict.fromkeys(options.seeds)), list(dict.fromkeys(options.presets))
    options.tutorial_seeds = list(dict.fromkeys(options.tutorial_seeds or options.seeds))
    if options.results is None and options.split == "test":
        options.results = DOCUMENT
    return options


def ask_all(wanted, exam, work):
    """Evaluates systems one after the other.

    Returns:
        A list of the `Scored` systems that answered, and a list with one line on each of the others.
    """
    found, failures = [], []
    for system in wanted:
        try:
            found.append(scored(system.name, systems.ask(system, exam, work), exam))
        except Failed as error:
            say(f"  left out: {error}")
            failures.append(str(error))
    return found, failures


def our_systems(exam, nearest, trainer, options):
    """Returns our systems: each preset with default settings, and the selected settings in the selected ways."""
    asked = [(name, ("--preset", name), ["greedy"]) for name in options.presets]
    asked += [(name, ("--config", settings_file(name)), chosen) for name, chosen in CHOSEN.items()]
    found = []
    for name, words, chosen in asked:
        ours = systems.Ours(name, words, exam, nearest, trainer)
        found += [ours.system(way, options.seeds) for way in chosen]
    return found


def main(arguments=None):
    options = parse(arguments)
    corpus = Corpus(options.corpus)
    exam, validation = Exam(corpus.pairs, options.split), Exam(corpus.pairs, "validation")
    work = WorkFolder(options.work, corpus.path)
    variant, variants = baselines.choose_variant(validation)
    nearest = baselines.NearestQuestions(exam.train, variant)
    trainer = systems.Trainer(corpus, work, options.epochs)
    others, left_out = ask_all(systems.without_models(exam, variant), exam, work)
    mine, more_left_out = ask_all(our_systems(exam, nearest, trainer, options), exam, work)
    left_out += more_left_out
    if options.peers:
        theirs, more_left_out = ask_all(systems.peers(exam, corpus, work, options), exam, work)
        others, left_out = [*others, *theirs], [*left_out, *more_left_out]
    else:
        left_out.append("the peers: no --peers was given")
    made_by = provenance(NAME, arguments, options.peers and options.peers_python)
    files = list(map(settings_file, CHOSEN))
    text = report.document(exam, corpus, made_by, others, mine, variants, files, left_out)
    print(text)
    if options.results:
        write_atomically(options.results, text)


if __name__ == "__main__":
    start(main)
