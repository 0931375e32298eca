"""Training data of Rasa: examples of an intent are questions, the text that a rule answers it with is the answer.

The answers are in other files of the project: `domain.yml` and `responses.yml` have the texts, `rules.yml` and
`stories.yml` say which action answers which intent. A retrieval intent such as `faq/ask_name` is answered by the
response `utter_faq/ask_name`.
"""

import collections
import pathlib
import re

from keras_transformer.data.yaml_files import fields_of, items_of, line_of, read_yaml, scalar_of, top_level_keys
from keras_transformer.language import translatable

NLU, RESPONSES, RULES, STORIES = "nlu", "responses", "rules", "stories"
YAML_ENDINGS = (".yml", ".yaml")
DOMAINS = ("domain.yml", "domain.yaml", "domain")  # What is in the folder of a project.
LEVELS = 4  # Folders above a file with examples where the domain may be, as in data/nlu/faq/ask.yml.
UTTER = "utter_"
ENTITY = re.compile(r"\[([^][]+)\](?:\([^)]{1,500}\)|\{[^}]{1,500}\}|\[[^]]{1,500}\])")  # [Bonn](city), [it]{…}
SLOT = re.compile(r"\{\w+\}")  # Which Rasa fills in.
EXAMPLE = re.compile(r"\s*-\s*(.*)")
UNANSWERED = translatable("no rule or response answers its intent with one text")


def rasa_rows(path, root, encoding):
    """Yields the pairs of the examples in a YAML file, and their problems, as `read_rows` does.

    Several texts of a response are dealt out to the examples in turn.

    Args:
        path: The file.
        root: Its root node.
        encoding: Encoding of the files of the project.
    """
    answers = answers_of(roots_of_project(pathlib.Path(path), root, encoding))
    for entry in items_of(fields_of(root)[NLU]):
        fields = fields_of(entry)
        examples = list(examples_of(fields.get("examples"))) if "intent" in fields else []
        texts = answers.get(scalar_of(fields["intent"])) if examples else None
        if not texts:
            yield from ((row, None, None, UNANSWERED) for row, _example in examples)
            continue
        for number in range(max(len(examples), len(texts))):
            row, example = examples[number % len(examples)]
            yield row, example, texts[number % len(texts)], None


def roots_of_project(path, root, encoding):
    """Yields the root nodes of the YAML files of a project that say what answers an intent.

    The project is the nearest folder above a file with a domain; without one, it is the folder of the file.

    Args:
        path: The file with examples.
        root: Its root node.
        encoding: Encoding of the files.
    """
    path = path.absolute()
    folder = next(filter(is_project, path.parents[:LEVELS]), path.parent)
    for file in sorted({path, *files_of_project(folder)}):
        if file == path:
            yield root
        elif top_level_keys(file, encoding) & {RESPONSES, RULES, STORIES}:
            yield read_yaml(file, encoding)


def is_project(folder):
    """Returns whether a folder is that of a project: it has a domain."""
    return any((folder / name).exists() for name in DOMAINS)


def files_of_project(folder):
    """Returns the YAML files of a project."""
    files = (*folder.iterdir(), *(folder / "domain").rglob("*"), *(folder / "data").rglob("*"))
    return [file for file in files if file.suffix.lower() in YAML_ENDINGS]


def files_with_examples(folder, encoding):
    """Returns the YAML files with examples in a folder, sorted, if it is a project, or the data of one; else none."""
    if is_project(folder):
        files = files_of_project(folder)
    elif is_project(folder.absolute().parent):
        files = (file for file in folder.rglob("*") if file.suffix.lower() in YAML_ENDINGS)
    else:
        files = ()
    return sorted(file for file in files if NLU in top_level_keys(file, encoding))


def answers_of(roots):
    """Returns the texts that answer each intent, a dictionary of lists."""
    responses, actions = {}, collections.defaultdict(set)
    for fields in map(fields_of, roots):
        for name, response in fields_of(fields.get(RESPONSES)).items():
            responses[name] = list(texts_of(response))
        for rule in (*items_of(fields.get(RULES)), *items_of(fields.get(STORIES))):
            if step := only_step(rule):
                actions[step[0]].add(step[1])
    answers = {name.removeprefix(UTTER): texts for name, texts in responses.items() if "/" in name}
    for intent, names in actions.items():
        if texts := [text for name in sorted(names) for text in responses.get(name, ())]:
            answers[intent] = texts
    return answers


def only_step(rule):
    """Returns the intent and the action of a rule or a story that is a question and its answer; None for others."""
    fields = fields_of(rule)
    steps = [fields_of(step) for step in items_of(fields.get("steps"))]
    if "condition" in fields or len(steps) != 2:
        return None
    intent, action = scalar_of(steps[0].get("intent")), scalar_of(steps[1].get("action"))
    return (intent, action) if intent and action else None


def texts_of(response):
    """Yields the texts of a response, without those that need a condition or a slot."""
    for variation in map(fields_of, items_of(response)):
        text = scalar_of(variation.get("text"))
        if text and "condition" not in variation and not SLOT.search(text):
            yield text


def examples_of(node):
    """Yields the line and the text of each example of an intent, without the marks of entities."""
    for item in items_of(node):
        if text := scalar_of(fields_of(item).get("text")):
            yield line_of(item), ENTITY.sub(r"\1", text)
    # The lines of a text below "examples: |", which starts on the next line.
    for row, line in enumerate((scalar_of(node) or "").split("\n"), line_of(node) + 1 if node else 0):
        if match := EXAMPLE.fullmatch(line):
            yield row, ENTITY.sub(r"\1", match[1])
