import json
import re
import shutil
import sys
from html.parser import HTMLParser

import pytest

from keras_transformer import Confidence, GenerationConfig, InputError, Run, report_html
from keras_transformer.config_file import read_config_file
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.evaluation.out_of_domain import make_out_of_domain
from keras_transformer.report import report as module
from keras_transformer.report.words import ABOUT, PANELS, WORDS
from keras_transformer.runs.tensor_file import tensors_checksum
from keras_transformer.visualize import training

ENGLISH = {f"question {i}": [f"answer number {i}", "or another"] for i in range(40)}
KOREAN = {f"질문 {i}": [f"대답 {i}번"] for i in range(40)}
HOSTILE = '</h3></style><script>alert(1)</script><img src="https://corpora.invalid/a.png">{{ words }} & "&lt;"'
LOADING = ("src", "srcset", "poster", "data", "action", "href", "xlink:href", "background", "style")


class Elements(HTMLParser):
    """The elements of a page, with their attributes and the texts in them."""

    def __init__(self, page):
        super().__init__()
        self.found, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))
        self.open.append(self.found[-1])

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        while self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, _, texts in self.open:
            texts.append(data)

    def texts(self, tag, **wanted):
        return [
            re.sub(r"\s+", " ", "".join(texts)).strip()
            for name, attributes, texts in self.found
            if name == tag and wanted.items() <= attributes.items()
        ]


def asked(pairs, answer="xyz"):
    return pairs, [answer] * len(pairs)


def test_it_has_what_is_to_be_known(make_report, small_run):
    answers = [references[1] for references in ENGLISH.values()]
    commands = ["keras-transformer train --config config.toml --run run"]
    page = make_report(ENGLISH, answers, corpus="pairs.csv", split="validation", commands=commands)
    found, run = Elements(page), Run(small_run)
    assert found.texts("title") == found.texts("h1") == ["Report on the run “run”"] == [page.title]
    assert found.texts("h2") == [
        "Scores", "Answers", "The worst answers", "Training", "Settings", "Training corpus",
        "How to reproduce it",
    ]  # fmt: skip
    assert found.texts("p")[0] == (
        "100.0% of 40 questions are answered as the corpus does (100.0% to 100.0%); "
        "chrF 100.0, 1.000 bits per character."
    )
    assert "40 questions with 80 answers: the validation split of pairs.csv." in page
    rows = found.texts("tr")
    assert len(rows) == 11
    assert rows[1] == ("bits_per_charbits per character of the reference answers; lower is better1.0001.000 – 1.000")
    assert rows[-1] == "answer_lengthmean characters per answer10.010.0 – 10.0"
    assert len(found.texts("article")) == 15
    assert found.texts("article")[0] == "question 1 corpus answer number 1 or another run or another chrF 100"
    assert found.texts("figcaption") == list(training.PANELS)
    assert len(found.texts("svg")) == 4
    best = run.summary()["best_epoch"]
    assert f"Epoch {best} was the best of 40 by val_bits_per_char; the run uses its weights." in page
    assert run.corpus["fingerprint"] in found.texts("dd")
    assert found.texts("pre")[-1] == commands[0]


def test_its_settings_are_a_file_that_train_reads(make_report, small_run, tmp_path):
    page = Elements(make_report(*asked(ENGLISH)))
    [text] = ["".join(texts) for tag, attributes, texts in page.found if attributes.get("class") == "recipe"]
    (tmp_path / "config.toml").write_text(text, "utf-8")
    settings, _ = read_config_file(tmp_path / "config.toml")
    assert settings == Run(small_run).config.to_dict()


def test_paths_of_whoever_trained_it_are_not_shown(make_report, small_run, tmp_path):
    copy = shutil.copytree(small_run, tmp_path / "copy")
    about = json.loads((copy / "config.json").read_text("utf-8"))
    about["corpus"]["source"] = {"corpus": ["/home/me/말뭉치", "/home/me/b.txt"], "tokenizer_file": "/home/me/t.model"}
    about["from"] = {"id": "1", "path": "/home/me/runs/first"}
    (copy / "config.json").write_text(json.dumps(about), "utf-8")
    (copy / "checksums.json").unlink()  # Of the config that was written.
    page = make_report(*asked(ENGLISH), run=copy)
    assert "/home/me" not in page
    recipe = Elements(page).texts("pre")[0]
    assert 'corpus = ["말뭉치", "b.txt"] tokenizer_file = "t.model" from = "first"' in recipe


def test_a_korean_corpus_has_a_korean_page(make_report):
    page = make_report(*asked(KOREAN))
    found = Elements(page)
    assert '<html lang="ko">' in page
    assert found.texts("h1") == ["run “run” 보고서"]
    assert found.texts("figcaption") == list(PANELS.values())
    assert '<html lang="en">' in make_report(*asked(ENGLISH))
    assert found.texts("h3", lang="ko")[0].startswith("질문")


def test_the_language_of_a_text_is_told(make_report):
    page = Elements(make_report({"안녕": ["Hi"], "hello": ["Hi there"]}, ["반가워요", "Hi"]))
    assert page.texts("h3", lang="ko") == ["안녕"] and page.texts("h3", lang="") == ["hello"]
    assert page.texts("dd", lang="ko") == ["반가워요"]


def test_what_a_calibrated_run_refuses_is_drawn(make_report, small_run, tmp_path):
    copy = shutil.copytree(small_run, tmp_path / "run")
    own = tuple((float(score), 0.5) for score in range(-99, 0))
    checksum = tensors_checksum(copy / "weights.safetensors")
    Confidence(own, {"mixed words": own[:9]}, {}, checksum).save(Run(copy))
    for corpus, title, kind in (
        (ENGLISH, "Confidence threshold", "mixed words"),
        (KOREAN, "신뢰도 임곗값", "낱말을 뒤섞은 질문"),
    ):
        page = Elements(make_report(*asked(corpus), run=copy))
        assert title in page.texts("h2")
        assert kind in page.texts("svg")[-1]
    Confidence(own, {"mixed words": own[:9]}, {}, "of other weights").save(Run(copy))
    assert title not in Elements(make_report(*asked(KOREAN), run=copy)).texts("h2")


def test_the_names_of_what_is_refused_are_those_of_the_calibration():
    assert list(WORDS["ko"]["refusal_labels"]["kinds"]) == list(make_out_of_domain(["가 나 다 라", "a b c d"]))
    assert WORDS["ko"]["refusal_labels"].keys() == WORDS["en"]["refusal_labels"].keys()


def test_both_languages_say_the_same():
    fields = {
        language: {name: sorted(re.findall(r"\{\w*\}", text)) for name, text in words.items() if isinstance(text, str)}
        for language, words in WORDS.items()
    }
    assert fields["en"] == fields["ko"]
    assert list(ABOUT) == list(LEGEND)
    assert list(PANELS) == list(training.PANELS)


def test_whatever_is_said_stays_text(make_report, small_run, tmp_path):
    copy = shutil.copytree(small_run, tmp_path / "<b>run")
    about = json.loads((copy / "config.json").read_text("utf-8"))
    about["corpus"] |= {"name": HOSTILE, "licence": HOSTILE, "source": {"corpus": [HOSTILE], "question": HOSTILE}}
    (copy / "config.json").write_text(json.dumps(about), "utf-8")
    (copy / "checksums.json").unlink()  # Of the config that was written.
    page = make_report({HOSTILE: [HOSTILE]}, [HOSTILE], run=copy, corpus=HOSTILE, split=HOSTILE, commands=[HOSTILE])
    found = Elements(page)
    tags = {tag for tag, _, _ in found.found}
    assert not tags & {"script", "img", "b"}
    assert found.texts("h1") == ["Report on the run “<b>run”"]
    assert found.texts("h3") == [HOSTILE]
    assert found.texts("dd", lang="") == [HOSTILE, HOSTILE]


def test_it_needs_nothing_beside_it(make_report):
    page = make_report(*asked(KOREAN), corpus=HOSTILE)
    found = Elements(page).found
    addresses = {attributes[name] for _, attributes, _ in found for name in LOADING if attributes.get(name)}
    assert {address for address in addresses if not address.startswith("#")} == {"data:,"}  # Of the icon.
    assert not {tag for tag, _, _ in found} & {"script", "iframe", "object", "embed", "form", "base"}
    style = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style and "@import" not in style
    [policy] = [attributes["content"] for _, attributes, _ in found if "http-equiv" in attributes]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "script-src 'none'" in policy


def test_ids_are_unique_and_every_reference_has_one(make_report):
    found = Elements(make_report(*asked(ENGLISH))).found
    ids = [attributes["id"] for _, attributes, _ in found if "id" in attributes]
    assert len(ids) == len(set(ids)) > 10
    links = {attributes["href"][1:] for tag, attributes, _ in found if tag == "use"}
    clips = {attributes["clip-path"][5:-1] for _, attributes, _ in found if "clip-path" in attributes}
    assert links and clips and links | clips <= set(ids)


@pytest.mark.parametrize(
    ("leaked", "own", "text"),
    [
        (7, True, "7 of 40 questions are in the run's training data"),
        (None, False, "these questions may have been in its training data"),
        (None, True, None),
        (0, False, None),
    ],
)
def test_what_the_run_has_met_is_said_first(make_report, leaked, own, text):
    page = Elements(make_report(*asked(ENGLISH), leaked=leaked, training_answers={"a"} if own else None))
    warnings = page.texts("p", **{"class": "warning"})
    assert [text in warning for warning in warnings] == ([True] if text else [])


def test_a_run_without_its_training_and_few_questions_lacks_what_is_not_there(make_report, small_run, tmp_path):
    copy = shutil.copytree(small_run, tmp_path / "run")
    (copy / "metrics.csv").unlink()
    (copy / "summary.json").unlink()
    page = Elements(make_report({"hello": ["Hi"]}, [""], run=copy))
    assert page.texts("h2") == ["Scores", "Answers", "Settings", "Training corpus", "How to reproduce it"]
    assert page.texts("article") == ["hello corpus Hi run (nothing) chrF 0"]


def test_a_training_that_goes_on_is_said_to(make_report, small_run, tmp_path):
    copy = shutil.copytree(small_run, tmp_path / "run")
    assert "The training took" in make_report(*asked(ENGLISH), run=copy)
    (copy / "summary.json").unlink()
    assert "The training has not finished yet." in make_report(*asked(ENGLISH), run=copy)


def test_a_real_run_is_asked_as_it_is_told_to(small_run, small_pairs, monkeypatch):
    pairs, heard = small_pairs[:3], []
    evaluation = module.evaluation

    def listen(*arguments, **settings):
        heard.append((arguments, settings))
        return evaluation(*arguments, **settings)

    monkeypatch.setattr(module, "evaluation", listen)
    generation = GenerationConfig(max_length=20)
    page = report_html(small_run, pairs, {"반가워요!"}, generation=generation)
    assert heard[0][0][0] == small_run and heard[0][0][1] is pairs
    assert heard[0][0][2:] == ({"반가워요!"}, None, generation) and heard[0][1] == {}
    assert "100.0%" in Elements(page).texts("p")[0]


@pytest.mark.parametrize("name", ["jinja2", "matplotlib", "sacrebleu", "rapidfuzz"])
def test_a_missing_package_is_named_with_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    message = f"a report needs the package {name}, which is missing: pip install 'keras-transformer-trainer[report]'"
    with pytest.raises(InputError, match=re.escape(message)):
        report_html("no run", None)
