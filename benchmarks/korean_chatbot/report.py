"""The document of the benchmark: tables, sample questions, and provenance."""

import random
import re

from benchmarks.korean_chatbot.scoring import BITS, best_of, difference
from benchmarks.results import table

SAMPLED, DRAW = 10, 0  # Number of sample questions, and the seed of the sample.
WITH_BOUNDS = {BITS: "{:.3f}", "chrf": "{:.1f}", "bleu": "{:.1f}", "exact_match": "{:.1%}", "copied": "{:.0%}"}
MAIN = {BITS: "bits per character", "chrf": "chrF"}
HEADER = [
    "", "bits per character", "chrF", "BLEU", "exact match", "copied", "distinct-1", "distinct-2", "length",
]  # fmt: skip
LEGEND = """
In brackets stand the 95 % intervals: the questions drawn anew, with replacement, 1,000 times. Bits per character of the
corpus's answers are of models alone; fewer are better. Of chrF and BLEU (0 to 100) and of exact matches more are
better. Where a question has several answers, each is right. *Copied* is the share of the answers that stand word for
word among those of training, *distinct* that of different words and pairs of words, *length* the characters of an
answer. The answers of all seeds of a system are scored together; where the table of the seeds names none, there is one.
""".strip()
WAYS = """
*Greedy* takes the likeliest token at every step, *beam 4* finds likelier answers. Of *32 samples*, which are drawn,
that is given which is most like the answers to the *neighbours*, the eight nearest training questions, in chrF. *The
nearest question's answer* is that of a training question, and composes nothing: by the cosine of the TF-IDF vectors
alone, or by that and half the cosine of the *memories*, the means of what our encoder makes of both questions.
""".strip()
PAIRED = """
The score of ours less that of the other, on the same questions at every draw. Below zero ours is better in bits per
character, above zero in chrF.
""".strip()
TRIED = """
Settings and ways of choosing answers were tried on the validation split alone: `KOREAN_CHATBOT_SEARCH.md`. What was
chosen, besides the preset as it is:
""".strip()


def document(exam, corpus, made_by, others, ours, variants, settings, left_out):
    """Returns the whole document in Markdown.

    Args:
        exam: The `Exam`.
        corpus: The `Corpus`.
        made_by: How, when and where the figures were measured.
        others: The `Scored` baselines.
        ours: Our `Scored` systems.
        variants: Dictionary from each variant of the nearest questions to its chrF on the validation split.
        settings: The files of our settings.
        left_out: Lines on systems that failed.
    """
    systems = [*others, *ours]
    paragraphs = [
        "# Answers to questions of a Korean chat corpus",
        made_by,
        asked(exam, corpus),
        scores_table(systems),
        LEGEND,
        WAYS if ours else None,
        seeds_table(systems),
        "## Ours beside the best of the others\n\n" + PAIRED if ours else None,
        differences_table(ours, others) if ours else None,
        "\n".join(["Left out:\n", *(f"- {escaped(line)}" for line in left_out)]) if left_out else None,
        "## What was chosen, and by what",
        chosen(variants),
        TRIED,
        *map(shown, settings),
        f"## {SAMPLED} questions, drawn",
        *samples(exam, systems),
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def asked(exam, corpus):
    """Returns a paragraph on the questions."""
    answers, train = sum(map(len, exam.references)), len(exam.train)
    return (
        f"Asked are the {len(exam.questions):,} different questions of the {exam.split} split of {corpus.path.name},\n"
        f"which have {answers:,} answers there; {train:,} of its {len(corpus.pairs):,} pairs are for training.\n"
        "The split goes by the questions' hashes: no question stands in two splits. Each is answered by itself."
    )


def chosen(variants):
    """Returns a paragraph and a table on how the nearest questions are found."""
    rows = [[name, f"{value:.2f}"] for name, value in sorted(variants.items(), key=lambda pair: -pair[1])]
    how = "What is counted of a question to find the nearest ones, and chrF of their answers on the validation split:"
    return f"{how}\n\n{table(['counted', 'chrF'], rows)}"


def shown(settings):
    """Returns a settings file as a code block under its name."""
    return f"`benchmarks/korean_chatbot/{settings.name}`:\n\n```toml\n{settings.read_text('utf-8').strip()}\n```"


def scores_table(systems):
    """Returns the table of all scores.

    Args:
        systems: The `Scored` systems.
    """
    return table(HEADER, [score_cells(system) for system in systems])


def score_cells(system):
    """Returns the row of a system."""
    bounded = [with_bounds(system, name, form) for name, form in WITH_BOUNDS.items()]
    different = [f"{system.distinct(n):.0%}" for n in (1, 2)]
    return [system.name, *bounded, *different, f"{system.value('answer_length'):.1f}"]


def with_bounds(system, name, form):
    """Returns a score with its interval, as "12.3 (11.9–12.8)"; "n/a" for a system without this score."""
    if name not in system.scores:
        return "n/a"
    low, high = map(form.format, system.intervals[name])
    return f"{form.format(system.value(name))} ({low}–{high})"


def seeds_table(systems):
    """Returns the main scores of each seed for the systems with several seeds; None if there are none."""
    several = [system for system in systems if len(system.answers) > 1]
    rows = [[system.name, *(each_cell(system, name) for name in MAIN)] for system in several]
    return table(["each seed", *MAIN.values()], rows) if rows else None


def each_cell(system, name):
    """Returns a score of each seed, as "12.3 / 12.5"; "n/a" for a system without this score."""
    return " / ".join(map(WITH_BOUNDS[name].format, system.each.get(name, []))) or "n/a"


def differences_table(ours, others):
    """Returns a table of the differences between ours and the best of the others.

    In chrF, the best of all others is compared; in both main scores, the best of the models among them.

    Args:
        ours: Our `Scored` systems.
        others: The `Scored` baselines.
    """
    models = [other for other in others if BITS in other.scores]
    best = [("chrf", best_of(others, "chrf")), *((name, best_of(models, name)) for name in MAIN)]
    compared = list(dict.fromkeys((name, other) for name, other in best if other))
    header = ["ours, less", *(f"{MAIN[name]} of {other.name}" for name, other in compared)]
    return table(header, [[one.name, *(difference_cell(one, other, name) for name, other in compared)] for one in ours])


def difference_cell(mine, other, name):
    """Returns a paired difference with its interval, as "+1.2 (+0.3 to +2.2)"."""
    form = WITH_BOUNDS[name].replace(":", ":+")
    value, (low, high) = difference(mine, other, name)
    return f"{form.format(value)} ({form.format(low)} to {form.format(high)})"


def samples(exam, systems):
    """Yields paragraphs with sample questions, their answers in the corpus, and the systems' first answers."""
    drawn = sorted(random.Random(DRAW).sample(range(len(exam.questions)), min(SAMPLED, len(exam.questions))))
    for index in drawn:
        references = " / ".join(map(escaped, exam.references[index]))
        lines = [f"- {system.name}: {escaped(system.answers[0].texts[index])}" for system in systems]
        yield "\n".join([f"**{escaped(exam.questions[index])}**\n", f"- *the corpus: {references}*", *lines])


def escaped(text):
    """Escapes the characters of a text that have a meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", " ".join(text.split()))
