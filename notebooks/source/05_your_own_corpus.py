# %% [markdown] lang="en"
# # 5. Your own corpus
#
# **English** · [한국어](05_your_own_corpus.ko.ipynb) · about a minute on 2 CPU cores
#
# What you will learn:
#
# - what a corpus file looks like, and how to ask whether it is fit;
# - training with one call, into a run folder that holds everything;
# - shipping it: a SavedModel that takes and returns text, and needs TensorFlow alone.
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), section 5. The code:
# [`data/quality`](../keras_transformer/data/quality), [`training/trainer.py`](../keras_transformer/training/trainer.py),
# [`runs/run.py`](../keras_transformer/runs/run.py), [`export/saved_model.py`](../keras_transformer/export/saved_model.py).

# %% [markdown] lang="ko"
# # 5. 내 말뭉치로
#
# [English](05_your_own_corpus.ipynb) · **한국어** · CPU 코어 2개로 1분쯤 걸립니다
#
# 이 노트북에서 배우는 것:
#
# - 말뭉치 파일이 어떻게 생겼는지, 쓸 만한지 어떻게 물어보는지;
# - 한 번의 호출로 학습해서 모든 것이 담긴 실행 폴더를 만드는 법;
# - 내보내기: 글을 받아 글을 돌려주고 TensorFlow만 있으면 되는 SavedModel.
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 5절. 코드:
# [`data/quality`](../keras_transformer/data/quality), [`training/trainer.py`](../keras_transformer/training/trainer.py),
# [`runs/run.py`](../keras_transformer/runs/run.py), [`export/saved_model.py`](../keras_transformer/export/saved_model.py).

# %%
import importlib
import os
import subprocess
import sys

if importlib.util.find_spec("keras_transformer") is None:  # On a hosted machine.
    package = "..[visualize]"  # In a clone of the repository.
    if not os.path.exists("../setup.cfg"):
        sys.exit("Clone the repository and open this notebook there: it installs keras_transformer from the clone.")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", package], check=True)
    importlib.invalidate_caches()

# %%
import contextlib
import io
import itertools
import json

import pandas as pd
import tensorflow as tf

from keras_transformer import Chatbot, Config, export_saved_model, load_pairs, plot_training, train

# %% [markdown] lang="en"
# ## A corpus is a table
#
# One column of questions, one of answers; CSV, TSV, JSONL or two text files. Ours is for a small library, in two languages. Each answer has
# several ways to ask for it: a model that met only one way to ask will not know another.

# %% [markdown] lang="ko"
# ## 말뭉치는 표입니다
#
# 질문 열 하나, 답 열 하나면 됩니다. CSV, TSV, JSONL, 또는 텍스트 파일 두 개도 좋습니다. 여기서는 작은 도서관의 문답을 두 언어로
# 만듭니다. 같은 답을 묻는 말을 여러 가지 넣습니다. 한 가지로만 물어본 모델은 다른 말로 물으면 모릅니다.

# %%
FACTS = {
    "평일은 아침 9시부터 저녁 8시까지 열어요.": (
        ["몇 시에", "언제", "평일에 언제"],
        ["열어요?", "문 열어요?", "여나요?"],
    ),
    "한 번에 다섯 권까지 빌릴 수 있어요.": (
        ["책은", "한 번에", "책을 한 번에"],
        ["몇 권 빌려요?", "몇 권까지 돼요?", "얼마나 빌려요?"],
    ),
    "2주 동안 빌려 드리고, 한 번 연장할 수 있어요.": (
        ["책은", "대출은", "빌린 책은"],
        ["며칠이에요?", "얼마 동안이에요?", "언제까지예요?"],
    ),
    "회원증은 1층 안내 데스크에서 바로 만들어 드려요.": (
        ["회원증은", "회원증을", "카드는"],
        ["어디서 만들어요?", "어떻게 만들죠?", "어디서 받아요?"],
    ),
    "We open at nine in the morning and close at eight.": (
        ["when do you", "what time do you", "when does the library"],
        ["open?", "close?"],
    ),
    "You may borrow five books at a time.": (
        ["how many books", "how many"],
        ["can I borrow?", "may I take?", "can I take home?"],
    ),
    "Two weeks, and you can renew them once.": (
        ["how long", "for how long"],
        ["may I keep books?", "can I keep them?", "can I keep a book?"],
    ),
    "The desk on the first floor makes your card at once.": (
        ["where do I get", "how do I get"],
        ["a card?", "a library card?", "my card?"],
    ),
}
rows = [(" ".join(parts), answer) for answer, ways in FACTS.items() for parts in itertools.product(*ways)]
pd.DataFrame(rows, columns=["question", "answer"]).to_csv("library.csv", index=False)
load_pairs("library.csv").sample(5, random_state=0)

# %% [markdown] lang="en"
# ## Is it fit?
#
# `keras-transformer data check` reads a corpus as training would, and says what it finds. It runs in a terminal; in a notebook, `!` does.

# %% [markdown] lang="ko"
# ## 쓸 만한가요?
#
# `keras-transformer data check`는 학습할 때와 똑같이 말뭉치를 읽고 알아낸 것을 말해 줍니다. 터미널에서 쓰는 명령이지만 노트북에서도
# `!`로 쓸 수 있습니다.

# %%
# !{sys.executable} -m keras_transformer data check library.csv

# %% [markdown] lang="en"
# ## Train
#
# `Config` has every setting, by its name in the paper. This corpus is tiny, so is the model. Everything goes into the run folder; the same
# call goes on where a training was stopped.

# %% [markdown] lang="ko"
# ## 학습
#
# `Config`에는 모든 설정이 논문의 이름으로 들어 있습니다. 말뭉치가 아주 작으니 모델도 작게 합니다. 모든 것이 실행 폴더에 담기고, 멈춘
# 학습은 같은 호출로 이어집니다.

# %%
config = Config(
    vocab_size=420,
    num_layers=2,
    d_model=64,
    num_heads=4,
    dff=128,
    batch_size=8,
    epochs=60,
    patience=0,
    warmup_steps=150,
    max_length=40,
)
with contextlib.redirect_stdout(io.StringIO()) as said:  # A line for each epoch, and more.
    summary = train("library.csv", "runs/library", config)
print(said.getvalue().splitlines()[0])
summary

# %%
plot_training("runs/library")

# %%
bot = Chatbot.load("runs/library")
questions = [
    "몇 시에 열어요?",
    "책은 한 번에 몇 권 빌려요?",
    "회원증은 어디서 만들죠?",
    "when do you close?",
    "how do I get a card?",
    "달에 가고 싶어요",
]
pd.DataFrame({"question": questions, "answer": bot.replies(questions)})

# %% [markdown] lang="en"
# The last question shows the limit: the model knows its corpus and nothing else, and it always answers something.

# %% [markdown] lang="ko"
# 마지막 질문에서 한계가 드러납니다. 모델은 말뭉치만 알고 다른 것은 모르며, 그래도 언제나 무언가를 대답합니다.

# %% [markdown] lang="en"
# ## Ship it
#
# The export holds all that answering takes: text normalization, tokenizer, model, search, and the exchanges of the corpus, so that it
# retrieves or generates as the run does. Before it is kept it is asked questions: every answer must be the run's own.

# %% [markdown] lang="ko"
# ## 내보내기
#
# 내보낸 폴더에는 글 정규화, 토크나이저, 모델, 탐색에 말뭉치의 문답까지, 답하는 데 필요한 것이 모두 들어 있습니다. 그래서 run이 문답을
# 찾아서 답하면 폴더도 찾아서 답하고, run이 답을 지으면 폴더도 짓습니다. 저장하기 전에 질문을 던져 보고, 답이 모두 run의 답과 같아야만
# 남깁니다.

# %%
tf.get_logger().setLevel("WARNING")  # Keras names its temporary files otherwise.
about = export_saved_model("runs/library", "exported")
print(json.dumps(about["verified"]), f"{sum(file['bytes'] for file in about['files'].values()) / 1e6:.1f} MB")

# %% [markdown] lang="en"
# This is all that a server needs. No package of ours is imported here; TensorFlow Serving, C++ or Java load the same folder.
#
# `similarities` are those to the nearest known questions. Where an answer was `retrieved`, it is theirs, and its score is 0; the score of
# a generated answer is its log-probability.

# %% [markdown] lang="ko"
# 서버에는 이것이면 됩니다. 아래에서는 우리 패키지를 하나도 쓰지 않습니다. TensorFlow Serving, C++, Java도 같은 폴더를 불러옵니다.
#
# `similarities`는 가장 가까운 질문과 얼마나 비슷한지입니다. `retrieved`가 참이면 그 질문의 답을 그대로 준 것이고 점수는 0입니다. 지어낸
# 답의 점수는 로그 확률입니다.

# %%
served = tf.saved_model.load("exported")
found = served.signatures["serving_default"](questions=tf.constant(questions))
answers = [answer.decode() for answer in found["answers"].numpy()]
others = {name: found[name].numpy() for name in sorted(found.keys() - {"answers"})}
pd.DataFrame({"question": questions, "answer": answers, **others}).round(2)

# %%
assert answers == bot.replies(questions)

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Put a file of yours in place of `library.csv`, and run `data check` first.
# 2. Ask in ways the corpus does not have. Which words does the model go by? [Notebook 4](04_look_inside.ipynb) shows it.
# 3. `keras-transformer serve runs/library --port 8000` answers over HTTP, and has a page to try it at `/docs`.
#
# Before: [4. Look inside](04_look_inside.ipynb). Next: [6. One model, many tasks](06_one_model_many_tasks.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. `library.csv` 대신 여러분의 파일을 넣고, 먼저 `data check`를 해 보세요.
# 2. 말뭉치에 없는 말로 물어보세요. 모델은 어떤 낱말을 보고 답할까요? [4번 노트북](04_look_inside.ko.ipynb)에서 볼 수 있습니다.
# 3. `keras-transformer serve runs/library --port 8000`은 HTTP로 대답하고, `/docs`에 직접 물어볼 수 있는 화면이 있습니다.
#
# 이전: [4. 속을 들여다보기](04_look_inside.ko.ipynb). 다음: [6. 모델 하나로 여러 과제](06_one_model_many_tasks.ko.ipynb)
