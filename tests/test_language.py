"""The language of the output: how it is chosen, that the Korean catalog is complete, and what users see."""

import inspect
import io
import re
import string
import symtable
import threading

import pytest
from babel.messages import extract, mofile, pofile

from keras_transformer.cli.main import main
from keras_transformer.language import (
    CATALOGS,
    DOMAINS,
    current_language,
    filled_in,
    language_of_context,
    language_of_locale,
    translate,
    use_language,
)

PACKAGE = CATALOGS.parent
KEYWORDS = {  # The same as in the Makefile.
    "_": None, "translatable": None, "Message": None, "translate_count": (1, 2), "setting": (2,), "Entry": (3,),
    "import_extra": (3,),
}  # fmt: skip
KOREAN = CATALOGS / "ko/LC_MESSAGES"
OF_PROGRAMMERS = {  # Messages of argparse about mistakes in the code that builds a parser.
    ".__call__() not defined", "conflicting subparser: %s", "conflicting subparser alias: %s",
    'argument "-" with mode %r', "can't open '%(filename)s': %(error)s",
    "cannot merge actions - two groups are named %r", "'required' is an invalid argument for positionals",
    "invalid option string %(option)r: must start with a character %(prefix_chars)r",
    "dest= is required for options like %r", "invalid conflict_resolution value: %r", "conflicting option string: %s",
    "mutually exclusive arguments must be optional", "cannot have multiple subparser arguments", "%r is not callable",
    "command '%(parser_name)s' is deprecated", "option '%(option)s' is deprecated",
    "argument '%(argument_name)s' is deprecated", "subcommands",
}  # fmt: skip


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    use_language("en")


def catalog(domain):
    """The messages of a catalog."""
    with open(KOREAN / f"{domain}.po", "rb") as file:
        return pofile.read_po(file)


def messages_of_the_code():
    """The messages that `make catalog` finds."""
    found = extract.extract_from_dir(PACKAGE, [("**.py", "python")], keywords=KEYWORDS)
    return {message for _, _, message, *_ in found}


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ko"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LANGUAGE": "en:ko"}, "en"),
        ({"LANG": "kok_IN"}, "en"),
    ],
)
def test_the_locale_decides(variables, language, monkeypatch):
    monkeypatch.setattr("locale.getlocale", lambda: (None, None))
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language_of_locale() == language


@pytest.mark.parametrize(("name", "language"), [("Korean_Korea", "ko"), ("ko_KR", "ko"), ("en_US", "en")])
def test_a_system_without_variables_says_it_otherwise(name, language, monkeypatch):
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("locale.getlocale", lambda: (name, "utf-8"))
    assert language_of_locale() == language


@pytest.mark.parametrize("arguments", [["--lang", "ko"], ["presets", "--lang=ko"], ["--lang", "ko", "presets"]])
def test_the_option_wins(arguments, capsys):
    assert main(arguments) == 0
    assert current_language() == "ko"


def test_without_the_option_the_locale_wins_again(monkeypatch, capsys):
    main(["--lang", "ko"])
    main([])
    assert current_language() == "en"
    monkeypatch.setenv("LANGUAGE", "ko")
    main([])
    assert current_language() == "ko"


@pytest.mark.parametrize("arguments", [["--lang", "fr"], ["chat", "run", "--lang", "fr"]])
def test_an_unknown_language_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert "argument --lang: invalid choice: 'fr'" in capsys.readouterr().err.splitlines()[-1]


def test_every_message_of_the_code_is_in_the_catalog_and_no_other():
    messages = {message.id: message.string for message in catalog("keras_transformer") if message.id}
    assert messages.keys() == messages_of_the_code(), "run make catalog"
    assert [message for message, korean in messages.items() if not korean] == []


def test_every_message_of_argparse_that_users_meet_is_in_its_catalog():
    source = io.BytesIO(inspect.getsource(__import__("argparse")).encode())
    found = (message for _, message, *_ in extract.extract("python", source))
    singular = {message if isinstance(message, str) else message[0] for message in found}
    known = {message.id if isinstance(message.id, str) else message.id[0] for message in catalog("argparse")}
    assert singular - OF_PROGRAMMERS <= known


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_translation_is_uncertain_and_the_compiled_catalog_is_of_this_text(domain):
    texts = catalog(domain)
    assert not [message.id for message in texts if message.id and message.fuzzy]
    with open(KOREAN / f"{domain}.mo", "rb") as file:
        assert translations(mofile.read_mo(file)) == translations(texts), "run make catalog"


def translations(texts):
    """The translations of a catalog by message; those with plural forms as tuples."""
    entries = ((message.id, message.string) for message in texts if message.id)
    return dict(tuple(one if isinstance(one, str) else tuple(one) for one in entry) for entry in entries)


def placeholders(text):
    """The names in braces and of %-formats in a text."""
    fields = sorted(field for _, field, *_ in string.Formatter().parse(text) if field is not None)
    return fields, sorted(re.findall(r"%(?:\(\w+\))?[a-z]", text))


@pytest.mark.parametrize("domain", DOMAINS)
def test_translations_have_the_placeholders_of_their_messages(domain):
    for message in catalog(domain):
        if message.id and isinstance(message.id, str) and '{"' not in message.id:  # JSON, which is shown as it is.
            assert placeholders(message.string) == placeholders(message.id), message.id


def test_values_are_filled_in_and_braces_without_values_stay():
    assert translate("{about} (default: {default})", about="A {brace}", default=1) == "A {brace} (default: 1)"
    assert translate("{about}") == "{about}"
    use_language("ko")
    assert translate("{about} (default: {default})", about="설명", default=1) == "설명(기본값: 1)"
    assert translate("not in the catalog") == "not in the catalog"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("질문", "질문은 질문이 질문을 질문과 질문으로"),
        ("학교", "학교는 학교가 학교를 학교와 학교로"),
        ("서울", "서울은 서울이 서울을 서울과 서울로"),
        (3, "3은 3이 3을 3과 3으로"),
        (8, "8은 8이 8을 8과 8로"),
        ("dff", "dff은(는) dff이(가) dff을(를) dff과(와) dff(으)로"),
        ("", "은(는) 이(가) 을(를) 과(와) (으)로"),
    ],
)
def test_particles_fit_the_value_before_them(value, shown):
    assert filled_in("{x}은(는) {x}이(가) {x}을(를) {x}과(와) {x}(으)로", {"x": value}) == shown


@pytest.mark.parametrize(("name", "shown"), [("말뭉치", "'말뭉치'라는"), ("책", "'책'이라는"), ("a", "'a'(이)라는")])
def test_a_quoted_name_has_its_particle(name, shown):
    assert filled_in("{name!r}(이)라는", {"name": name}) == shown


def test_particles_within_a_value_stay():
    assert filled_in('"{x!r}"은(는) {{y}} {z:.1f}', {"x": "책이(가) {x}", "z": 2}) == "\"'책이(가) {x}'\"은(는) {y} 2.0"


def test_help_in_korean(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train", "--lang", "ko", "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("사용법: keras-transformer train CORPUS --run RUN [옵션]\n")
    assert "최대 에포크 수(기본값: 말뭉치에 따라, small은 30)" in shown
    assert "예:  keras-transformer train pairs.csv --run runs/first" in shown
    assert "\0" not in shown


def test_wrong_usage_in_korean_has_status_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["chat", "--lang", "ko"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == "keras-transformer chat: 오류: 다음 인수가 필요합니다: RUN"


def test_an_error_in_korean_has_status_2(tmp_path, capsys):
    assert main(["chat", str(tmp_path / "없음"), "--lang", "ko"]) == 2
    assert capsys.readouterr().err == f"keras-transformer: 오류: {tmp_path / '없음'}: 그런 run 폴더가 없습니다\n"


@pytest.mark.heavy
def test_a_training_in_korean(tmp_path, capsys):
    pairs = "".join(f"질문 {i}번,대답 {i % 5}\n" for i in range(40))
    (tmp_path / "pairs.csv").write_text(f"질문,답변\n{pairs}", "utf-8")
    sizes = {"num-layers": 1, "d-model": 16, "num-heads": 2, "dff": 16, "vocab-size": 300, "epochs": 1}
    options = [f"--{name}={value}" for name, value in sizes.items()]
    run = tmp_path / "run"
    assert main(["train", str(tmp_path / "pairs.csv"), "--run", str(run), "--lang", "ko", *options]) == 0
    shown = capsys.readouterr().err
    assert "대화용으로 골랐습니다: 외울 질문과 답의 쌍(40쌍); " in shown
    assert f"에서 {run} 학습을 시작합니다: 파라미터 " in shown
    assert f"{run}에 저장했습니다." in shown
    assert shown.endswith(f"대화하기:  keras-transformer chat {run}\n")
    assert not re.search("[가-힣]", (run / "config.toml").read_text("utf-8").replace(str(tmp_path), ""))
    assert (run / "metrics.csv").read_text("utf-8").startswith("epoch,")


def test_no_throwaway_variable_hides_the_function_that_translates():
    for path in PACKAGE.rglob("*.py"):
        assert hidden_in(symtable.symtable(path.read_text("utf-8"), str(path), "exec")) == [], path


def hidden_in(scope):
    """The functions in a scope that both assign to `_` and use it."""
    found = [one.get_name() for one in scope.get_symbols() if one.get_name() == "_"]
    local = [scope.lookup(name) for name in found if scope.get_type() == "function"]
    here = [scope.get_name() for symbol in local if symbol.is_local() and symbol.is_referenced()]
    return here + [name for child in scope.get_children() for name in hidden_in(child)]


def test_a_context_has_a_language_of_its_own():
    seen = []
    with language_of_context("ko"):
        thread = threading.Thread(target=lambda: seen.append(translate("training")))
        thread.start()
        thread.join()
        seen += [translate("training"), current_language()]
    assert [*seen, translate("training")] == ["training", "학습", "ko", "training"]
