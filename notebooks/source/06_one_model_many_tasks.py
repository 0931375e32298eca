# %% [markdown] lang="en"
# # 6. One model, many tasks
#
# **English** · [한국어](06_one_model_many_tasks.ko.ipynb) · about two minutes on 2 CPU cores
#
# What you will learn:
#
# - that nothing in the model knows what it is for: the same settings learn to copy, to reverse, to pronounce and to translate;
# - how to tell learning from remembering: every test question is new;
# - what each task looks like in the attention between answer and question.
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), section 3. The code:
# [`models/transformer.py`](../keras_transformer/models/transformer.py), [`text/tokenizer.py`](../keras_transformer/text/tokenizer.py),
# [`chat/attention_trace.py`](../keras_transformer/chat/attention_trace.py).

# %% [markdown] lang="ko"
# # 6. 모델 하나로 여러 과제
#
# [English](06_one_model_many_tasks.ipynb) · **한국어** · CPU 코어 2개로 2분쯤 걸립니다
#
# 이 노트북에서 배우는 것:
#
# - 모델은 자기가 무엇에 쓰일지 모른다는 것: 같은 설정으로 베껴 쓰기, 거꾸로 쓰기, 소리 내어 읽기, 번역하기를 모두 배웁니다.
# - 배운 것과 외운 것을 가리는 법: 시험 문제는 모두 처음 보는 것입니다.
# - 과제마다 답과 질문 사이의 어텐션이 어떤 모양인지.
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 3절. 코드:
# [`models/transformer.py`](../keras_transformer/models/transformer.py), [`text/tokenizer.py`](../keras_transformer/text/tokenizer.py),
# [`chat/attention_trace.py`](../keras_transformer/chat/attention_trace.py).

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

import numpy as np
import pandas as pd

from keras_transformer import Chatbot, Config, plot_attention, trace_attention, train

# %% [markdown] lang="en"
# ## Four tasks from one number
#
# Take 4721. Written digit by digit it is `4 7 2 1`; a Korean reads it *사 천 칠 백 이 십 일*; in English that is *four thousand seven hundred
# twenty one*. So one list of numbers makes four corpora:

# %% [markdown] lang="ko"
# ## 수 하나로 과제 넷
#
# 4721을 봅시다. 숫자를 하나씩 쓰면 `4 7 2 1`이고, 소리 내어 읽으면 *사 천 칠 백 이 십 일*이며, 영어로는 *four thousand seven hundred twenty
# one*입니다. 이렇게 수의 목록 하나로 말뭉치 넷을 만들 수 있습니다.

# %%
DIGITS = "영 일 이 삼 사 오 육 칠 팔 구".split()
PLACES = ["천", "백", "십", ""]
ONES = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(number):
    return " ".join(f"{number}")


def reverse(number):
    return " ".join(f"{number}"[::-1])


def korean(number):
    words = []
    for digit, place in zip(f"{number:04}", PLACES):
        if digit != "0":
            words += [DIGITS[int(digit)] if digit != "1" or not place else "", place]
    return " ".join(filter(None, words))


def english(number):
    thousands, hundreds, rest = number // 1000, number // 100 % 10, number % 100
    words = [ONES[thousands], "thousand"] if thousands else []
    words += [ONES[hundreds], "hundred"] if hundreds else []
    if 10 <= rest < 20:
        return " ".join([*words, TEENS[rest - 10]])
    words += [TENS[rest // 10]] if rest >= 20 else []
    return " ".join(words + ([ONES[rest % 10]] if rest % 10 else []))


TASKS = {
    "copy": (spell, spell),
    "reverse": (spell, reverse),
    "pronounce": (spell, korean),
    "translate": (korean, english),
}
pd.DataFrame(
    {name: [source(n) + "  →  " + target(n) for n in (4721, 1015, 308)] for name, (source, target) in TASKS.items()}
).T

# %% [markdown] lang="en"
# 4,000 numbers are for training, 500 others for the test. A token is what stands between spaces: `tokenizer="word"`.

# %% [markdown] lang="ko"
# 수 4,000개로 학습하고, 다른 500개로 시험합니다. 띄어쓰기 사이에 있는 것이 토큰 하나입니다: `tokenizer="word"`.

# %%
numbers = np.random.default_rng(0).permutation(np.arange(1, 10_000)).tolist()
known, unseen = numbers[:4000], numbers[-500:]

config = Config(
    tokenizer="word",
    num_layers=2,
    d_model=64,
    num_heads=4,
    dff=128,
    dropout=0.0,
    batch_size=32,
    epochs=7,
    patience=0,
    schedule="cosine",
    learning_rate=0.002,
    warmup_steps=100,
    max_length=16,
    precision="float32",
)


def learn(task):
    """Trains a model on a task. Returns it as a chatbot, and its share of right answers for unseen numbers."""
    source, target = TASKS[task]
    pairs = pd.DataFrame({"question": [source(n) for n in known], "answer": [target(n) for n in known]})
    with contextlib.redirect_stdout(io.StringIO()):  # Four trainings print a lot.
        train(pairs, f"runs/{task}", config)
    bot = Chatbot.load(f"runs/{task}")
    right = np.mean([said == target(n) for said, n in zip(bot.replies([source(n) for n in unseen]), unseen)])
    return bot, {"task": task, "right, of 500 unseen": f"{right:.1%}", "parameters": f"{bot.model.count_params():,}"}


learnt = {task: learn(task) for task in TASKS}
pd.DataFrame([about for _, about in learnt.values()])

# %% [markdown] lang="en"
# The decoder writes free-running here: it reads its own tokens, and never the right ones. If a number of one digit comes out
# wrong, count how many of those it has met: there are 9 of them among 9,999.

# %% [markdown] lang="ko"
# 여기서 디코더는 혼자 힘으로 씁니다. 정답이 아니라 자기가 쓴 토큰만 읽습니다. 한 자리 수를 틀린다면 그런 수를 몇 번이나 만났을지 세어
# 보세요. 9,999개 가운데 9개뿐입니다.

# %%
examples = [7, 40, 815, 2026, 9999]
pd.DataFrame({task: bot.replies([TASKS[task][0](n) for n in examples]) for task, (bot, _) in learnt.items()}, examples)

# %% [markdown] lang="en"
# ## What each task looks like
#
# The target decides the task, and the task decides where the decoder looks. Copying goes along one diagonal, reversing along
# the other. Pronouncing finds its digit each time; most heads look at the ends of the number for the names of the places (천, 백, 십),
# which tell how long it is. Translating follows the words. Each picture shows the heads of the last layer:

# %% [markdown] lang="ko"
# ## 과제마다 다른 모양
#
# 목표가 과제를 정하고, 과제가 디코더의 눈길을 정합니다. 베껴 쓰기는 한쪽 대각선을, 거꾸로 쓰기는 다른 쪽 대각선을 따라갑니다. 소리 내어
# 읽기는 번번이 제 숫자를 찾아내지만, 자리 이름(천, 백, 십)을 쓸 때는 헤드 대부분이 수의 양 끝을 봅니다. 거기서 수가 몇 자리인지 알 수 있기
# 때문입니다. 번역은 낱말을 따라갑니다. 그림은 마지막 층의 헤드들입니다.

# %%
plot_attention(trace_attention(learnt["copy"][0], spell(4721)))

# %%
plot_attention(trace_attention(learnt["reverse"][0], spell(4721)))

# %%
plot_attention(trace_attention(learnt["pronounce"][0], spell(4721)))

# %%
plot_attention(trace_attention(learnt["translate"][0], korean(4721)))

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Train on 500 numbers instead of 4,000. Which task suffers first, and which mistakes does it make?
# 2. A fifth task: the digits in order of size. What does its attention look like?
# 3. Ask the copying model for a number of five digits. Why does it fail at something so easy?
#
# Before: [5. Your own corpus](05_your_own_corpus.ipynb). Real pronunciations, French and Hungarian, are measured in
# [`benchmarks/RESULTS.md`](../benchmarks/RESULTS.md).

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. 4,000개 대신 500개로 학습해 보세요. 어느 과제가 먼저 무너지고, 어떤 실수를 하나요?
# 2. 다섯째 과제로, 숫자를 크기 순서로 늘어놓게 해 보세요. 어텐션은 어떤 모양일까요?
# 3. 베껴 쓰는 모델에게 다섯 자리 수를 물어보세요. 이렇게 쉬운 일을 왜 못 할까요?
#
# 이전: [5. 내 말뭉치로](05_your_own_corpus.ko.ipynb). 프랑스어와 헝가리어의 진짜 발음은
# [`benchmarks/RESULTS.md`](../benchmarks/RESULTS.md)에서 쟀습니다.
