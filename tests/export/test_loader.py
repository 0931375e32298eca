import json
import shutil

import pytest

from keras_transformer import InputError, export_run
from keras_transformer.export.loader import Exported, open_bot
from keras_transformer.export.manifest import ABOUT, about_file, write_about

pytestmark = pytest.mark.heavy

QUESTIONS = ["안녕하세요", "hello", ""]


@pytest.mark.slow  # As it is loaded where it is made.
def test_it_answers_as_its_run(saved_model, bot, assert_answers_as):
    exported = Exported(saved_model)
    assert_answers_as(lambda questions: [found for [found] in exported.n_best(questions)], bot, QUESTIONS)
    assert list(exported.stream("hello")) == [bot.reply("hello")]
    assert list(exported.stream("")) == []
    assert exported.max_length == bot.max_length - 1


def test_a_folder_that_its_library_cannot_read_is_one_line(saved_model, tmp_path):
    folder = shutil.copytree(saved_model, tmp_path / "copy")
    (folder / "variables" / "variables.index").write_bytes(b"damaged")
    about = json.loads((folder / ABOUT).read_text("utf-8"))
    about["files"]["variables/variables.index"] = about_file(folder / "variables" / "variables.index")
    write_about(folder, about)
    with pytest.raises(InputError, match=r"copy: cannot be opened: [^\n]+$"):
        open_bot(folder)


def test_a_damaged_folder_is_not_asked(small_run, tmp_path):
    export_run(small_run, tmp_path / "out")
    (tmp_path / "out" / "tokenizer.model").write_bytes(b"")
    with pytest.raises(InputError, match=r"tokenizer\.model: damaged, or changed"):
        Exported(tmp_path / "out")
