# %% [markdown] lang="en"
# # 4. Look inside
#
# **English** · [한국어](04_look_inside.ko.ipynb) · about two minutes on 2 CPU cores
#
# What you will learn:
#
# - to read attention weights of real questions: encoder, decoder, and between the two;
# - that heads and layers have different habits, and how to measure one;
# - what the model looks at while it writes each piece of its answer, and what such pictures do not tell.
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), section 3.2.3 and the figures of its appendix. The code:
# [`chat/attention_trace.py`](../keras_transformer/chat/attention_trace.py), [`visualize/`](../keras_transformer/visualize).

# %% [markdown] lang="ko"
# # 4. 속을 들여다보기
#
# [English](04_look_inside.ipynb) · **한국어** · CPU 코어 2개로 2분쯤 걸립니다
#
# 이 노트북에서 배우는 것:
#
# - 진짜 질문의 어텐션 가중치를 읽는 법: 인코더, 디코더, 그리고 둘 사이;
# - 헤드와 층마다 버릇이 다르다는 것, 그리고 그 버릇을 재는 법;
# - 답의 조각을 하나씩 쓸 때 모델이 무엇을 보는지, 그리고 이런 그림이 말해 주지 않는 것.
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 3.2.3절과 부록의 그림. 코드:
# [`chat/attention_trace.py`](../keras_transformer/chat/attention_trace.py), [`visualize/`](../keras_transformer/visualize).

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

import keras
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from keras_transformer import Chatbot, attention_html, load_pairs, plot_attention, preset, trace_attention, train

# %% [markdown] lang="en"
# ## A model to look into
#
# A small chatbot, trained on the corpus of this repository (1,811 pairs, Korean and English). Have you a run of your own? Then load that: the cells
# below work with any.

# %% [markdown] lang="ko"
# ## 들여다볼 모델
#
# 이 저장소의 말뭉치(한국어와 영어 1,811쌍)로 학습한 작은 챗봇입니다. 여러분의 실행 폴더가 있으면 그것을 불러오세요. 아래 셀은 어느 것으로나
# 돌아갑니다.

# %%
settings = preset("demo").replace(epochs=20, schedule="cosine", learning_rate=0.002, warmup_steps=200)
with contextlib.redirect_stdout(io.StringIO()):
    train("small_talk", "runs/small_talk", settings)
bot = Chatbot.load("runs/small_talk")
bot.replies(["왜 루트 d_k로 나눠?", "배고픈데 뭐 먹지?", "What is a padding mask?"])

# %% [markdown] lang="en"
# ## One question, three kinds of attention
#
# `trace_attention` asks a question and keeps all weights, for every layer and head:

# %% [markdown] lang="ko"
# ## 질문 하나, 어텐션 세 가지
#
# `trace_attention`는 질문을 던지고 모든 층과 헤드의 가중치를 남깁니다.

# %%
trace = trace_attention(bot, "왜 루트 d_k로 나눠?")
print("question:", *trace.question)
print("answer:  ", *trace.answer)
{kind: getattr(trace, kind).shape for kind in ("encoder", "decoder", "cross")}

# %% [markdown] lang="en"
# **Cross-attention** (answer looks at question). Each row is a piece of the answer at the moment it was written. Look at the
# first row: that piece decides which answer it will be, and for it the heads search the question. Once that is settled there is
# little left to ask, and they rest on `<start>` and `<end>`.

# %% [markdown] lang="ko"
# **크로스 어텐션** (답이 질문을 봅니다). 한 줄이 답의 조각 하나이고, 그 조각을 쓰던 순간의 눈길입니다. 첫 줄을 보세요. 어떤 답을 할지는 그
# 조각에서 정해지므로 헤드가 질문을 살핍니다. 정해지고 나면 더 물어볼 것이 별로 없어서 `<start>`와 `<end>`에서 쉽니다.

# %%
plot_attention(trace, "cross")

# %% [markdown] lang="en"
# **Encoder** (question looks at itself), first layer and last. In the first, each token picks its own. In the last, whole columns
# light up: nearly all tokens look at the same few. What stands there are no longer words, but what the layer before made of them.

# %% [markdown] lang="ko"
# **인코더** (질문이 자신을 봅니다), 첫 층과 마지막 층. 첫 층에서는 토큰마다 보는 곳이 다릅니다. 마지막 층에서는 열이 통째로 밝습니다. 거의 모든
# 토큰이 같은 몇 곳을 봅니다. 거기 있는 것은 이미 낱말이 아니라 앞 층이 만들어 낸 것입니다.

# %%
plot_attention(trace, "encoder", layer=1)

# %%
plot_attention(trace, "encoder", layer=2)

# %% [markdown] lang="en"
# **Decoder** (answer looks at itself). The upper triangle is empty: the future is hidden.

# %% [markdown] lang="ko"
# **디코더** (답이 자신을 봅니다). 오른쪽 위 세모는 비어 있습니다. 미래는 가려져 있기 때문입니다.

# %%
plot_attention(trace, "decoder")

# %% [markdown] lang="en"
# ## Step through an answer
#
# The same as a page: choose kind, layer and head, hover or focus a token, and go through the answer with the arrow keys. It is one file without any
# network; `keras-transformer attention RUN "question" --output page.html` writes it too.

# %% [markdown] lang="ko"
# ## 답을 한 걸음씩
#
# 같은 것을 화면으로 봅니다. 종류와 층과 헤드를 고르고, 토큰에 마우스를 올리거나 초점을 맞추고, 화살표 키로 답을 따라가 보세요. 네트워크가 필요 없는
# 파일 하나이며, `keras-transformer attention RUN "질문" --output page.html`로도 만들 수 있습니다.

# %%
attention_html(trace)

# %% [markdown] lang="en"
# ## Habits of heads
#
# One picture is an anecdote. Over many questions, a habit can be measured: how far from itself does a head of the encoder look, on average, and how
# widely does it spread its attention? The spread is the entropy in bits: 0 for one token, 3 for eight tokens alike.

# %% [markdown] lang="ko"
# ## 헤드의 버릇
#
# 그림 하나는 일화일 뿐입니다. 질문을 여럿 모으면 버릇을 잴 수 있습니다. 인코더의 헤드는 평균해서 얼마나 먼 곳을 보고, 눈길을 얼마나 넓게
# 나눌까요? 넓이는 엔트로피(비트)로 잽니다. 토큰 하나만 보면 0, 여덟 개를 고르게 보면 3입니다.

# %%
questions = load_pairs("small_talk")["question"].drop_duplicates().sample(40, random_state=0)
rows = []
for question in questions:
    weights = trace_attention(bot, question).encoder
    place = np.arange(weights.shape[-1])
    distance = (weights * np.abs(place[:, None] - place)).sum(-1).mean(-1)
    spread = -(weights * np.log2(np.maximum(weights, 1e-9))).sum(-1).mean(-1)
    for (layer, head), far in np.ndenumerate(distance):
        rows.append((layer + 1, head + 1, far, spread[layer, head]))
habits = pd.DataFrame(rows, columns=["layer", "head", "distance, tokens", "spread, bits"])
habits.groupby(["layer", "head"]).mean().round(2)

# %%
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (layer, of_layer), marker in zip(habits.groupby("layer"), "os^Dv"):
    mean = of_layer.groupby("head").mean()
    ax.scatter(mean["distance, tokens"], mean["spread, bits"], marker=marker, s=60, label=f"layer {layer}")
    for head, row in mean.iterrows():
        ax.annotate(head, row[["distance, tokens", "spread, bits"]], xytext=(6, -3), textcoords="offset points")
ax.set(
    xlabel="mean distance, tokens",
    ylabel="mean spread, bits",
    title=f"the encoder's heads (by number), means of {len(questions)} questions",
)
ax.margins(0.15)
ax.legend()

# %% [markdown] lang="en"
# ## Which word decided the answer?
#
# Attention shows where a head looked, not whether it mattered. To ask what mattered, change the question: leave a word out and see how much less
# likely the answer becomes. Look whether the words that matter are those that were looked at.

# %% [markdown] lang="ko"
# ## 어느 낱말이 답을 정했을까
#
# 어텐션은 헤드가 어디를 보았는지 보여 줄 뿐, 그것이 중요했는지는 말해 주지 않습니다. 무엇이 중요했는지 알려면 질문을 바꿔 봐야 합니다. 낱말을
# 하나씩 빼고 답의 확률이 얼마나 떨어지는지 봅시다. 중요한 낱말이 곧 많이 본 낱말일까요?

# %%


def log_probability(question, answer):
    """Returns the log-probability of an answer, in nats."""
    [source], tokens = bot.ids_of([question]), bot.target_tokenizer
    target = np.array([[tokens.start_id, *tokens.encode(answer), tokens.end_id]])
    logits = bot.model({"inputs": np.array([source]), "dec_inputs": target[:, :-1]}, training=False)
    log_probabilities = np.asarray(keras.ops.log_softmax(logits))[0]
    return float(log_probabilities[np.arange(len(log_probabilities)), target[0, 1:]].sum())


question = "배고픈데 뭐 먹지?"
answer = bot.reply(question)
whole, words = log_probability(question, answer), question.split()
rows = []
for left_out in range(len(words)):
    shorter = " ".join(words[:left_out] + words[left_out + 1 :])
    rows.append((words[left_out], shorter, log_probability(shorter, answer) - whole, bot.reply(shorter)))
print(answer, f"({whole:.2f} nats)")
pd.DataFrame(rows, columns=["left out", "question without it", "change, nats", "answer"]).round(2)

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Ask the same in other words: `trace_attention(bot, "배가 고파")`. Which heads look at the same place?
# 2. Find a head of the decoder that always looks one token back. What could it be good for?
# 3. Train for 4 epochs instead of 20 and draw the cross-attention again. Does it look at the question already?
#
# Before: [3. Train a Korean chatbot](03_train_a_korean_chatbot.ipynb). Next: [5. Your own corpus](05_your_own_corpus.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. 같은 것을 다른 말로 물어보세요: `trace_attention(bot, "배가 고파")`. 어느 헤드가 같은 곳을 보나요?
# 2. 언제나 한 토큰 앞을 보는 디코더 헤드를 찾아보세요. 어디에 쓸모가 있을까요?
# 3. 20에포크 대신 4에포크만 학습하고 크로스 어텐션을 다시 그려 보세요. 벌써 질문을 보고 있나요?
#
# 이전: [3. 한국어 챗봇 학습하기](03_train_a_korean_chatbot.ko.ipynb). 다음: [5. 내 말뭉치로](05_your_own_corpus.ko.ipynb)
