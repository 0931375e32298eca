import zipfile

import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows

OPUS = {
    "README": "OPUS",
    "LICENSE": "CC0",
    "Tatoeba.ko-en.ko": "안녕\n\n잘 가\n",
    "Tatoeba.ko-en.en": "hi\n\nbye\n",
    "Tatoeba.ko-en.ids": "1\t2\n",
}


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def pairs(*arguments, **names):
    return [row[:3] for row in read_rows(*arguments, **names)]


@pytest.mark.parametrize(("lines", "counts"), [((3, 5), (3, 5)), ((5, 3), (5, 3)), ((0, 1), (0, 1))])
def test_parallel_files_are_counted_to_their_ends(tmp_path, lines, counts):
    paths = [tmp_path / "q.txt", tmp_path / "a.txt"]
    for path, count in zip(paths, lines):
        path.write_text("x\n" * count)
    with pytest.raises(ValueError, match=f"has {counts[0]} lines and .* has {counts[1]}: line i of the first"):
        list(read_rows(paths))


@pytest.mark.parametrize("names", [("corpus.en", "corpus.fr"), ("OpenSubtitles.ko-en.ko", "OpenSubtitles.ko-en.en")])
def test_files_named_after_languages_are_parallel(tmp_path, names):
    paths = [tmp_path / name for name in names]
    for path, text in zip(paths, ("안녕\n", "hi\n")):
        path.write_text(text, encoding="utf-8")
    assert pairs(paths) == [(1, "안녕", "hi")]


def test_the_languages_of_two_files_say_their_direction(tmp_path):
    paths = [tmp_path / "corpus.ko", tmp_path / "corpus.en"]
    for path, text in zip(paths, ("안녕\n", "hi\n")):
        path.write_text(text, encoding="utf-8")
    assert pairs(paths, question="en", answer="ko") == [(1, "hi", "안녕")]
    with pytest.raises(InputError, match=r"they may name the languages$"):
        pairs(paths, question="en", answer="de")


def test_a_zip_file_of_opus(tmp_path):
    path = zipped(tmp_path / "ko-en.txt.zip", OPUS)
    assert pairs(path) == [(1, "안녕", "hi"), (3, "잘 가", "bye")]
    assert pairs(path, question="en", answer="ko") == [(1, "hi", "안녕"), (3, "bye", "잘 가")]


@pytest.mark.parametrize(
    ("files", "names", "message"),
    [
        ({"README": "x", "a.csv": "Q,A"}, (), r"a\.zip: no parallel text in it, two files such as NAME\.ko-en\.ko"),
        (OPUS, ("de", "ko"), r"a\.zip: no column named 'de'; there are ko, en"),
        (OPUS | {"Tatoeba.ko-en.en": "hi\n"}, (), r"ko-en\.ko has 3 lines and Tatoeba\.ko-en\.en has 1"),
        (OPUS | {"Tatoeba.ko-en.en": b"hi\n\xff\n"}, (), r"a\.zip: Tatoeba\.ko-en\.en is not utf-8: give its encoding"),
        (OPUS | {"Tatoeba.ko-en.en": "a" * 110_000_000}, (), "cannot be read: unpacked, it is more than 200 times as"),
    ],
    ids=["none", "language", "lines", "encoding", "bomb"],
)
def test_a_zip_file_that_cannot_be_used(tmp_path, files, names, message):
    with pytest.raises(InputError, match=message):
        pairs(zipped(tmp_path / "a.zip", files), *names)


def test_a_damaged_zip_file(tmp_path):
    path = zipped(tmp_path / "a.zip", OPUS)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"a\.zip: cannot be read: File is not a zip file"):
        pairs(path)
