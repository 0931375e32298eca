"""How well does a chatbot trained with default options answer training, reworded and unseen questions, and corrections?

    python -m benchmarks.chatbot ChatbotData.csv --runs FOLDER [--seeds 0 1 2] [--split test]

For each seed, the benchmark runs `keras-transformer train CORPUS --run RUN --seed SEED`, unless FOLDER already contains
the run, and evaluates it. The baseline is the nearest question by TF-IDF, twenty lines of scikit-learn. The answers to
a fixed sample of 120 questions are written to FOLDER/PART.jsonl for blind judging.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

from benchmarks.korean_chatbot.baselines import nearest
from benchmarks.korean_chatbot.exam import Exam
from benchmarks.machine import describe_machine, describe_versions
from benchmarks.recipe.rewording import one_letter_wrong, other_ending, with_laughter, without_spaces
from benchmarks.results import RESULTS, publish, table
from keras_transformer import Chatbot, load_pairs
from keras_transformer.chat.datastore import CORRECTIONS
from keras_transformer.evaluation import text_metrics
from keras_transformer.evaluation.bootstrap import difference
from keras_transformer.text.normalize import normalize

KNOWN, JUDGED, FROZEN, CORRECTED = 500, 120, 1000, 50
REWORDINGS = {
    "without spaces": without_spaces,
    "with ㅋㅋ, ㅠㅠ or !!": with_laughter,
    "with another ending": other_ending,
    "one letter wrong": one_letter_wrong,
}
BASELINE = "nearest question by TF-IDF"


def parse(arguments):
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chatbot", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a CSV file of questions and answers, such as ChatbotData.csv")
    parser.add_argument("--runs", required=True, type=pathlib.Path, help="folder for the runs and the answers")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--split", default="validation", choices=("validation", "test"))
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    return parser.parse_args(arguments)


def trained(corpus, run):
    """Trains a run with default options unless it exists. Returns the wall time of the process in seconds."""
    note = run.with_suffix(".json")
    if not note.is_file():
        shutil.rmtree(run, ignore_errors=True)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "keras_transformer", "train", corpus, "--run", run, "--seed", run.name]
        subprocess.run(list(map(str, command)), check=True)
        note.write_text(json.dumps({"seconds": time.perf_counter() - begin}), "utf-8")
    return json.loads(note.read_text("utf-8"))["seconds"]


def share_of_right_answers(answers, references):
    """Returns the share of answers that equal one of their references."""
    right = [normalize(answer) in map(normalize, known) for answer, known in zip(answers, references)]
    return sum(right) / len(right)


def share_of_most_frequent(answers):
    """Returns the share of the most frequent answer among the answers."""
    return collections.Counter(answers).most_common(1)[0][1] / len(answers)


def known_questions(exam):
    """Returns training questions drawn at random, with their answers."""
    answers = collections.defaultdict(list)
    for question, answer in zip(exam.train["question"], exam.train["answer"]):
        answers[question].append(answer)
    drawn = np.random.default_rng(0).choice(list(answers), min(KNOWN, len(answers)), replace=False)
    return {str(question): answers[question] for question in drawn}


def reworded(known, rewording):
    """Returns reworded training questions with their answers. Questions that cannot be reworded are excluded."""
    return {new: answers for question, answers in known.items() if (new := rewording(question)) and new != question}


def corrections(bot, exam):
    """Measures 50 corrections: the shares that take effect, of other answers that change, and that `forget` undoes."""
    asked = list(dict.fromkeys(exam.train["question"]))
    drawn = [asked[i] for i in np.random.default_rng(1).permutation(len(asked))[: FROZEN + CORRECTED]]
    wrong, frozen = drawn[:CORRECTED], [*exam.questions, *drawn[CORRECTED:]][:FROZEN]
    before, wrong_before = bot.replies(frozen), bot.replies(wrong)
    for number, question in enumerate(wrong):
        bot.datastore.teach(question, f"가르친 답 {number}")
    stuck = share_of_right_answers(bot.replies(wrong), [[f"가르친 답 {number}"] for number in range(len(wrong))])
    changed = 1 - share_of_right_answers(bot.replies(frozen), [[answer] for answer in before])
    for question in wrong:
        bot.datastore.forget(question)
    after = share_of_right_answers(bot.replies([*frozen, *wrong]), [[answer] for answer in [*before, *wrong_before]])
    return stuck, changed, after


def measure(run, exam, known):
    """Evaluates a run. Returns figures by name, and its answers to the questions of the split by system."""
    bot = Chatbot.load(run)
    (run / CORRECTIONS).unlink(missing_ok=True)
    answers = {"ours": bot.replies(exam.questions), "ours, generate": bot.replies(exam.questions, answer_by="generate")}
    figures = {}
    for name, way in (("ours", None), ("ours, generate", "generate")):
        figures[f"known questions, {name}"] = share_of_right_answers(
            bot.replies(list(known), answer_by=way), known.values()
        )
        for rewording, function in REWORDINGS.items():
            asked = reworded(known, function)
            figures[f"{rewording}, {name}"] = share_of_right_answers(
                bot.replies(list(asked), answer_by=way), asked.values()
            )
        figures[f"one and the same answer, {name}"] = share_of_most_frequent(answers[name])
    stuck, changed, after = corrections(bot, exam)
    figures |= {"corrections that stick": stuck, "other answers changed": changed, "as before once forgotten": after}
    return figures, answers


def pooled(found):
    """Returns one `Score` of the answers of several seeds. It is resampled by question."""
    first = found[0]
    return text_metrics.Score(sum(score.addends for score in found), first.of, first.signature)


def main(arguments=None):
    """Trains and evaluates the runs and publishes the results."""
    options = parse(arguments)
    exam = Exam(load_pairs(options.corpus), options.split)
    known, baseline = known_questions(exam), nearest(exam, "1 to 2 characters").texts
    seconds, figures, answers = [], [], []
    for seed in options.seeds:
        run = options.runs / str(seed)
        seconds.append(trained(options.corpus, run))
        of_run, of_systems = measure(run, exam, known)
        figures.append(of_run)
        answers.append(of_systems)
    write_judged(options.runs / f"{options.split}.jsonl", exam, {BASELINE: baseline, **answers[0]})
    rows = [["training, minutes, whole process", *(f"{one / 60:.1f}" for one in seconds)]]
    rows += [[name, *(f"{one[name]:.1%}" for one in figures)] for name in figures[0]]
    base = text_metrics.chrf(baseline, exam.references)
    lines = [f"chrF on the {options.split} split: {BASELINE} {base.value:.1f}"]
    for name in answers[0]:
        found = [text_metrics.chrf(one[name], exam.references) for one in answers]
        gain, (low, high) = difference(pooled(found), pooled([base] * len(found)))
        each = " / ".join(f"{score.value:.1f}" for score in found)
        lines.append(f"{name} {each}; less the nearest question's {gain:+.1f} ({low:+.1f} to {high:+.1f})")
    made_by = f"`python -m benchmarks.chatbot {pathlib.Path(options.corpus).name} --split {options.split}`"
    where = f"{made_by}. {describe_machine()}; {describe_versions()}."
    header = ["", *(f"seed {seed}" for seed in options.seeds)]
    paragraphs = [where, table(header, rows), *(f"- {line}" for line in lines)]
    publish(options.results, "chatbot", "A chatbot from the plain command", paragraphs)


def write_judged(path, exam, systems):
    """Writes the answers to a fixed sample of questions: one JSON object per question and system."""
    drawn = np.random.default_rng(0).permutation(len(exam.questions))[:JUDGED]
    systems = {"the corpus": [answers[0] for answers in exam.references], **systems}
    rows = [
        {"question": exam.questions[number], "system": name, "answer": answers[number]}
        for number in sorted(drawn)
        for name, answers in systems.items()
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
