"""Everyday intents: groups of questions that ask the same in other words, in Korean and English.

A FAQ has each question once and cannot show how else people ask it: 늦잠 자서 못 갔어요 for 결석하면 보강이 되나요, or
"changed my mind, can you stop it?" for "How can I cancel my order?" The files in `everyday_intents` do, with some 2,500
groups in Korean and 2,200 in English: of what customers ask shops, services, clinics, schools and offices, and of what
people tell a chatbot about their day. Each line is a question, an empty line ends a group.
"""

import importlib.resources
import re

FOLDER = "everyday_intents"
LANGUAGES = {
    "ko": re.compile("[가-힣]"),
    "en": re.compile(r"\b(?:the|is|are|do|does|can|you|my|how|what|where|when|to|of)\b", re.IGNORECASE),
}
"""The languages, and what most sentences in them contain."""

LEAST_SHARE = 0.1  # Minimum share of texts in a language for it to be one of a corpus.


def languages_of(texts):
    """Returns the languages with intents in which at least a tenth of a list of texts is written, a list of codes."""
    return [
        language
        for language, pattern in LANGUAGES.items()
        if sum(bool(pattern.search(text)) for text in texts) >= LEAST_SHARE * len(texts)
    ]


def load_intents(language):
    """Returns the intents of a language, "ko" or "en": a list of lists of questions."""
    file = importlib.resources.files("keras_transformer.text") / FOLDER / f"{language}.txt"
    groups = file.read_text("utf-8").strip().split("\n\n")
    return [group.splitlines() for group in groups if not group.startswith("#")]
