# %% [markdown] lang="en"
# # 2. Positions and layers
#
# **English** · [한국어](02_positions_and_layers.ko.ipynb) · runs in seconds
#
# What you will learn:
#
# - how sines and cosines tell a model where a token stands, and why a step of $k$ is a rotation;
# - what several heads see that one does not;
# - what the residual connection and the normalization around each sublayer are for;
# - how many parameters the paper's models have, and where they are (Table 3).
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), sections 3.1 to 3.5. The code:
# [`layers/positional_encoding.py`](../keras_transformer/layers/positional_encoding.py),
# [`layers/attention.py`](../keras_transformer/layers/attention.py),
# [`layers/residual.py`](../keras_transformer/layers/residual.py),
# [`models/encoder.py`](../keras_transformer/models/encoder.py).

# %% [markdown] lang="ko"
# # 2. 위치와 층
#
# [English](02_positions_and_layers.ipynb) · **한국어** · 몇 초면 끝납니다
#
# 이 노트북에서 배우는 것:
#
# - 사인과 코사인이 토큰의 자리를 어떻게 알려 주는지, $k$칸 옮기는 일이 왜 회전인지;
# - 헤드 하나로는 못 보는 것을 여러 헤드가 어떻게 보는지;
# - 서브층마다 있는 잔차 연결과 정규화가 무슨 일을 하는지;
# - 논문의 모델에 파라미터가 몇 개, 어디에 있는지(표 3).
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 3.1절부터 3.5절. 코드:
# [`layers/positional_encoding.py`](../keras_transformer/layers/positional_encoding.py),
# [`layers/attention.py`](../keras_transformer/layers/attention.py),
# [`layers/residual.py`](../keras_transformer/layers/residual.py),
# [`models/encoder.py`](../keras_transformer/models/encoder.py).

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
import keras
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from keras_transformer import (
    PRESETS,
    MultiHeadAttention,
    PositionalEncoding,
    encoder,
    encoder_layer,
    plot_model_shape,
    plot_position_encoding,
    transformer,
)
from keras_transformer.presets import count_parameters

keras.utils.set_random_seed(0)

# %% [markdown] lang="en"
# ## Where a token stands (section 3.5)
#
# Attention sees a set: shuffle the words, and every word gets the same output as before. So each embedding gets a pattern
# added that belongs to its position:
#
# $$PE_{(pos,\,2i)} = \sin\left(pos / 10000^{2i/d_{model}}\right) \qquad PE_{(pos,\,2i+1)} = \cos\left(pos / 10000^{2i/d_{model}}\right)$$
#
# Each pair of columns is a clock hand: the first pairs turn fast, the last ones hardly move.

# %% [markdown] lang="ko"
# ## 토큰의 자리 (3.5절)
#
# 어텐션은 집합을 봅니다. 단어를 뒤섞어도 각 단어의 출력은 그대로입니다. 그래서 임베딩마다 자리에 따라 정해진 무늬를 더합니다.
#
# $$PE_{(pos,\,2i)} = \sin\left(pos / 10000^{2i/d_{model}}\right) \qquad PE_{(pos,\,2i+1)} = \cos\left(pos / 10000^{2i/d_{model}}\right)$$
#
# 두 열이 짝을 이루어 시곗바늘 하나가 됩니다. 앞쪽 짝은 빨리 돌고 뒤쪽 짝은 거의 움직이지 않습니다.

# %%
plot_position_encoding(50, 128)

# %% [markdown] lang="en"
# First we check what we said of sets. Without positions, the same three tokens in another order give the same outputs in
# that order; with them they do not:

# %% [markdown] lang="ko"
# 집합이라는 말부터 확인해 봅시다. 자리를 더하지 않으면 세 토큰의 순서를 바꿔도 출력은 그 순서대로 똑같고, 자리를 더하면 달라집니다.

# %%
attention = MultiHeadAttention(d_model=16, num_heads=2)
add_positions = PositionalEncoding(position=50, d_model=16)
tokens = np.random.default_rng(0).normal(size=(1, 3, 16)).astype("float32")
order = [2, 0, 1]


def attend(x):
    return np.asarray(attention({"query": x, "key": x, "value": x, "mask": None}))


without = np.abs(attend(tokens)[:, order] - attend(tokens[:, order])).max()
with_positions = np.abs(attend(add_positions(tokens))[:, order] - attend(add_positions(tokens[:, order]))).max()
print(f"outputs differ by {without:.4f} without positions, by {with_positions:.4f} with them")

# %% [markdown] lang="en"
# ## A step is a rotation
#
# Why sines and cosines? Because for every distance $k$ there is one matrix that leads from $PE_{pos}$ to $PE_{pos+k}$, the
# same at every position: each pair of columns is turned by the angle $k / 10000^{2i/d_{model}}$. So “three tokens before
# me” is something that a matrix like $W^Q$ can learn. We build the rotation for $k=5$ and try it everywhere:

# %% [markdown] lang="ko"
# ## 한 걸음은 회전
#
# 왜 사인과 코사인일까요? 거리 $k$마다 $PE_{pos}$를 $PE_{pos+k}$로 옮기는 행렬이 하나 있고, 그 행렬은 어느 자리에서나
# 같기 때문입니다. 두 열씩 짝지어 각도 $k / 10000^{2i/d_{model}}$만큼 돌리면 됩니다. 그래서 “나보다 세 토큰 앞”은 $W^Q$
# 같은 행렬이 배울 수 있는 일이 됩니다. $k=5$인 회전을 만들어 모든 자리에서 확인해 봅시다.

# %%
d_model, k = 128, 5
table = np.asarray(PositionalEncoding(100, d_model).pos_encoding)[0]

rotation = np.zeros((d_model, d_model))
for i in range(0, d_model, 2):
    angle = k / 10000 ** (i / d_model)
    rotation[i : i + 2, i : i + 2] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]

turned = table[:-k] @ rotation.T
print(f"PE(pos + {k}) and the rotated PE(pos) differ by at most {np.abs(turned - table[k:]).max():.1e}")

# %%
pairs = [0, 8, 16, 24]
fig, axes = plt.subplots(1, len(pairs), figsize=(11, 3), layout="constrained")
for ax, i in zip(axes, pairs):
    ax.plot(*table[:31, [2 * i + 1, 2 * i]].T, color="0.8", zorder=0)
    ax.scatter(*table[:31, [2 * i + 1, 2 * i]].T, c=range(31), cmap="cividis", s=18)
    for position in (0, k):
        ax.annotate(f"pos {position}", table[position, [2 * i + 1, 2 * i]], xytext=(4, 4), textcoords="offset points")
    ax.set(aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.2, 1.4), title=f"columns {2 * i}, {2 * i + 1}", xlabel="cosine")
axes[0].set_ylabel("sine")
fig.suptitle("positions 0 to 30 on four of the 64 clocks")

# %% [markdown] lang="en"
# A rotation changes no length, so the product of two positions' patterns depends on their distance alone: positions close
# to each other look alike.

# %% [markdown] lang="ko"
# 회전은 길이를 바꾸지 않습니다. 그래서 두 자리의 무늬를 내적한 값은 둘의 거리에만 달려 있고, 가까운 자리는 서로 닮았습니다.

# %%
products = table @ table.T
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for position, style in [(20, "-"), (50, "--"), (80, ":")]:
    ax.plot(np.arange(100) - position, products[position], style, label=f"from position {position}")
ax.set(xlabel="distance", ylabel="product", title="similarity of two positions")
ax.legend()

# %% [markdown] lang="en"
# ## Several heads (section 3.2.2)
#
# One head gives each token one set of weights: if *smile* looks at *messi* and at *brightly*, it gets the mean of the two, and
# can no longer tell who from how. Several heads look at several things at once, each in its own slice of $d_{model}$, and
# $W^O$ puts the slices together. That costs no more than one head:

# %% [markdown] lang="ko"
# ## 여러 헤드 (3.2.2절)
#
# 헤드가 하나면 토큰마다 가중치도 한 벌뿐입니다. *smile*이 *messi*와 *brightly*를 함께 보면 둘의 평균을 받아서, 누가와
# 어떻게를 더는 가릴 수 없습니다. 헤드가 여럿이면 $d_{model}$을 나누어 저마다 다른 것을 보고, $W^O$가 그 조각들을 다시
# 합칩니다. 그래도 파라미터는 헤드 하나일 때와 같습니다.

# %%
rows = []
for num_heads in [1, 2, 4, 8]:
    layer = MultiHeadAttention(d_model=512, num_heads=num_heads)
    layer.build({"query": (None, None, 512), "key": (None, None, 512), "value": (None, None, 512)})
    rows.append((num_heads, 512 // num_heads, f"{layer.count_params():,}"))
pd.DataFrame(rows, columns=["heads", "width of a head (d_k)", "parameters"]).set_index("heads")

# %%
x = tokens
_, scores = attention({"query": x, "key": x, "value": x, "mask": None}, return_attention_scores=True)
print(scores.shape, "(batch, heads, queries, keys)")
np.asarray(scores)[0].round(2)

# %% [markdown] lang="en"
# ## Residual and normalization (section 3.1)
#
# Around every sublayer stands $\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$. The sum lets a token keep what it was and
# gives the gradient a straight way down; the normalization keeps the size of the numbers. Here are twelve encoder layers, new
# ones, with what happens if the normalization is left out:

# %% [markdown] lang="ko"
# ## 잔차와 정규화 (3.1절)
#
# 서브층마다 $\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$가 둘러싸고 있습니다. 더하기 덕분에 토큰은 본래 모습을 지키고
# 기울기는 곧장 아래로 흐릅니다. 정규화는 숫자의 크기를 지켜 줍니다. 갓 만든 인코더 층 열두 개를 지나며 정규화가 있을 때와
# 없을 때를 견주어 봅시다.

# %%
DEPTH, WIDTH = 12, 64
padding_mask = keras.ops.zeros((1, 1, 1, 10))
start = keras.random.normal((1, 10, WIDTH), seed=0)


def deviations_of(normalized):
    """Returns the standard deviation of the activations after each of `DEPTH` encoder layers."""
    x, deviations = start, []
    for number in range(DEPTH):
        layer = encoder_layer(dff=256, d_model=WIDTH, num_heads=4, dropout=0.0, name=f"layer_{number}")
        x = layer([x, padding_mask]) if normalized else without_normalization(layer, x)
        deviations.append(float(np.std(x)))
    return deviations


def without_normalization(model, x):
    """Applies the same sublayers, with residual connections but without normalization."""
    [layer] = [layer for layer in model.layers if hasattr(layer, "self_attention")]
    x = x + layer.self_attention({"query": x, "key": x, "value": x, "mask": padding_mask})
    return x + layer.feed_forward(x)


fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(range(1, DEPTH + 1), deviations_of(True), "o-", label="LayerNorm(x + Sublayer(x))")
ax.plot(range(1, DEPTH + 1), deviations_of(False), "s--", label="x + Sublayer(x)")
ax.set(yscale="log", xlabel="encoder layer", ylabel="standard deviation", title="activations, layer by layer")
ax.legend()

# %% [markdown] lang="en"
# ## The whole model, and Table 3
#
# The paper's Figure 1, drawn from a real model of the tutorials' sizes:

# %% [markdown] lang="ko"
# ## 모델 전체와 표 3
#
# 논문의 그림 1을, 튜토리얼 크기의 진짜 모델을 보고 그린 것입니다.

# %%
model = transformer(vocab_size=8192, num_layers=2, dff=512, d_model=256, num_heads=8, dropout=0.1)
plot_model_shape(model)

# %% [markdown] lang="en"
# Table 3 of the paper lists parameters, in millions. Ours are counted from the sizes; the vocabulary is “about 37,000”
# there, and one table of embeddings serves questions, answers and the output (section 3.4):

# %% [markdown] lang="ko"
# 논문의 표 3에는 파라미터 수가 백만 단위로 나와 있습니다. 아래는 크기만 가지고 센 우리 모델의 수입니다. 논문의 어휘는 “약
# 37,000”이고, 임베딩 표 하나를 질문과 답과 출력이 함께 씁니다(3.4절).

# %%
base = PRESETS["base"]
table_3 = [
    ("base", base, 65),
    ("N = 2", base.replace(num_layers=2), 36),
    ("N = 4", base.replace(num_layers=4), 50),
    ("N = 8", base.replace(num_layers=8), 80),
    ("d_model 256", base.replace(d_model=256), 28),
    ("d_model 1024", base.replace(d_model=1024), 168),
    ("d_ff 1024", base.replace(dff=1024), 53),
    ("d_ff 4096", base.replace(dff=4096), 90),
    ("big", PRESETS["big"], 213),
]
rows = [(name, paper, count_parameters(config) / 1e6) for name, config, paper in table_3]
pd.DataFrame(rows, columns=["model", "paper, millions", "here, millions"]).set_index("model").round(1)

# %% [markdown] lang="en"
# Within seven percent. In all rows but the last about the same is missing, some 4,000 rows of embeddings: the paper's vocabulary was
# probably nearer 41,000. And where are the parameters? In the base model:

# %% [markdown] lang="ko"
# 7퍼센트 안에서 일치합니다. 마지막 줄만 빼고 모자라는 수가 거의 같은데, 임베딩 4,000줄쯤입니다. 논문의 어휘는 아마 41,000에 더 가까웠을
# 것입니다. 그러면 파라미터는 어디에 있을까요? base 모델에서는 이렇습니다.

# %%
one_layer = encoder(vocab_size=1, num_layers=1, dff=2048, d_model=512, num_heads=8, dropout=0.1).count_params() - 512
attention_parameters = 4 * (512 * 512 + 512)
where = {
    "embeddings (shared)": 37000 * 512,
    "attention: encoder": 6 * attention_parameters,
    "attention: decoder": 12 * attention_parameters,
    "feed-forward: encoder and decoder": 12 * (2 * 512 * 2048 + 2048 + 512),
    "normalization": (6 * 2 + 6 * 3) * 2 * 512,
}
assert one_layer == attention_parameters + (2 * 512 * 2048 + 2048 + 512) + 2 * 2 * 512
assert sum(where.values()) == count_parameters(base)

fig, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
bars = ax.barh(list(where), [count / 1e6 for count in where.values()], color="#0072B2")
ax.bar_label(bars, fmt="%.1f", padding=3)
ax.set(xlabel="parameters, millions", xlim=(0, 30), title="where the base model's parameters are")
ax.invert_yaxis()

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Draw `plot_position_encoding(50, 16)` and `(500, 128)`. From which column on does the pattern no longer help to tell
#    neighbours apart?
# 2. Build the rotation for $k=-5$. What is it, multiplied with the one for $k=5$?
# 3. How large is a model of the base sizes with a vocabulary of 8,000, and which share of it are embeddings then?
#
# Before: [1. Attention by hand](01_attention_by_hand.ipynb). Next:
# [3. Train a Korean chatbot](03_train_a_korean_chatbot.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. `plot_position_encoding(50, 16)`과 `(500, 128)`을 그려 보세요. 몇 번째 열부터는 이웃한 자리를 가리는 데 도움이 되지
#    않을까요?
# 2. $k=-5$인 회전을 만들어 보세요. $k=5$인 회전과 곱하면 무엇이 될까요?
# 3. 어휘가 8,000이면 base 크기의 모델은 얼마나 커지고, 그중 임베딩은 얼마나 차지할까요?
#
# 이전: [1. 손으로 계산하는 어텐션](01_attention_by_hand.ko.ipynb). 다음:
# [3. 한국어 챗봇 학습하기](03_train_a_korean_chatbot.ko.ipynb)
