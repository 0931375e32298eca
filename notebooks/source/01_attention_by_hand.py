# %% [markdown] lang="en"
# # 1. Attention by hand
#
# **English** · [한국어](01_attention_by_hand.ko.ipynb) · runs in seconds
#
# What you will learn:
#
# - what query, key and value are, in numbers small enough to check on paper;
# - why the scores are divided by $\sqrt{d_k}$;
# - what the two masks hide, as pictures;
# - that the layers of this package compute just that.
#
# The paper is [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762): this is its section 3.2. The code is in
# [`layers/attention.py`](../keras_transformer/layers/attention.py) and
# [`layers/masks.py`](../keras_transformer/layers/masks.py).

# %% [markdown] lang="ko"
# # 1. 손으로 계산하는 어텐션
#
# [English](01_attention_by_hand.ipynb) · **한국어** · 몇 초면 끝납니다
#
# 이 노트북에서 배우는 것:
#
# - 쿼리(query), 키(key), 밸류(value)가 무엇인지, 종이에 직접 써 볼 수 있을 만큼 작은 숫자로;
# - 점수를 왜 $\sqrt{d_k}$로 나누는지;
# - 두 가지 마스크가 무엇을 가리는지, 그림으로;
# - 이 패키지의 층이 정확히 그 계산을 한다는 것.
#
# 논문은 [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762)이고, 여기서는 3.2절을 다룹니다. 코드는
# [`layers/attention.py`](../keras_transformer/layers/attention.py)와
# [`layers/masks.py`](../keras_transformer/layers/masks.py)에 있습니다.

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
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from keras_transformer import (
    MultiHeadAttention,
    create_look_ahead_mask,
    create_padding_mask,
    scaled_dot_product_attention,
)

# %% [markdown] lang="en"
# ## Three words
#
# “messi smile brightly”. A model knows each word by a row of numbers, its embedding. A real one learns hundreds of
# numbers that nobody can name. Ours are four, and have names: how much of *a person*, of *an action*, of *a manner* is in
# the word? The fourth is 1 for every word.

# %% [markdown] lang="ko"
# ## 세 단어
#
# “messi smile brightly”. 모델은 단어 하나를 숫자 한 줄, 곧 임베딩으로 알고 있습니다. 진짜 모델은 이름 붙일 수 없는 숫자를
# 수백 개 배우지만, 우리는 네 개만 쓰고 이름도 붙입니다. 이 단어에 *사람*, *동작*, *모습*이 각각 얼마나 들어 있을까요?
# 네 번째 숫자는 모든 단어에서 1입니다.

# %%
words = ["messi", "smile", "brightly"]
features = ["person", "action", "manner", "one"]
x = np.array(
    [
        [2.0, 0.0, 0.0, 1.0],
        [0.0, 2.0, 0.0, 1.0],
        [0.0, 0.0, 2.0, 1.0],
    ]
)
pd.DataFrame(x, words, features)

# %% [markdown] lang="en"
# ## Query, key, value
#
# Each word asks a question, its **query**: what am I looking for? Each word has a label, its **key**: what am I? And it
# has something to tell, its **value**. All three are the embedding times a matrix. A model learns the matrices; we choose
# them:
#
# - $W^K$: the key says what the word is;
# - $W^Q$: an action looks for a person (who?) and a manner (how?), and both of these look for an action;
# - $W^V$: the word tells everything it has.

# %% [markdown] lang="ko"
# ## 쿼리, 키, 밸류
#
# 단어마다 **쿼리**라는 질문이 있습니다. 나는 무엇을 찾고 있지? 단어마다 **키**라는 이름표도 있습니다. 나는 무엇이지? 그리고
# 들려줄 이야기, **밸류**가 있습니다. 셋 모두 임베딩에 행렬을 곱한 것입니다. 모델은 이 행렬을 배우지만, 우리는 직접 정합니다.
#
# - $W^K$: 키는 그 단어가 무엇인지 말합니다.
# - $W^Q$: 동작은 사람(누가?)과 모습(어떻게?)을 찾고, 사람과 모습은 동작을 찾습니다.
# - $W^V$: 단어는 가진 것을 모두 들려줍니다.

# %%
w_query = np.array(
    [
        [0.0, 1.0, 0.0, 0.0],  # a person looks for an action
        [1.0, 0.0, 1.0, 0.0],  # an action looks for a person and a manner
        [0.0, 1.0, 0.0, 0.0],  # a manner looks for an action
        [0.0, 0.0, 0.0, 0.0],
    ]
)
w_key = np.diag([1.0, 1.0, 1.0, 0.0])
w_value = np.eye(4)

query, key, value = x @ w_query, x @ w_key, x @ w_value
pd.concat({name: pd.DataFrame(q, words, features) for name, q in [("query", query), ("key", key), ("value", value)]})

# %% [markdown] lang="en"
# ## Scores, softmax, output (equation 1)
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$$
#
# The score of *smile* for *messi* is the product of the query of one with the key of the other: $2\cdot2+0\cdot0+2\cdot0+0\cdot0=4$.

# %% [markdown] lang="ko"
# ## 점수, 소프트맥스, 출력 (식 1)
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$$
#
# *smile*이 *messi*에게 주는 점수는 *smile*의 쿼리와 *messi*의 키를 곱해 더한 것입니다: $2\cdot2+0\cdot0+2\cdot0+0\cdot0=4$.

# %%
scores = query @ key.T
pd.DataFrame(scores, words, words)

# %% [markdown] lang="en"
# $d_k = 4$ here, so every score is halved. The softmax then turns each row into weights that sum to 1. For *smile*:
# $e^2 = 7.389$, $e^0 = 1$, $e^2 = 7.389$, and $7.389 / (7.389 + 1 + 7.389) = 0.468$.

# %% [markdown] lang="ko"
# 여기서는 $d_k = 4$이므로 점수는 모두 절반이 됩니다. 소프트맥스는 각 줄을 합이 1인 가중치로 바꿉니다. *smile*의 줄은
# $e^2 = 7.389$, $e^0 = 1$, $e^2 = 7.389$이고, $7.389 / (7.389 + 1 + 7.389) = 0.468$입니다.


# %%
def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


d_k = key.shape[-1]
weights = softmax(scores / np.sqrt(d_k))
pd.DataFrame(weights, words, words).round(3)


# %%
def draw(matrix, rows, columns, title, ax, colours="cividis"):
    """Draws a matrix of numbers from 0 to 1, with each number in its cell."""
    image = ax.imshow(matrix, cmap=colours, vmin=0, vmax=1)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_title(title)
    for (i, j), number in np.ndenumerate(matrix):
        dark = np.mean(image.to_rgba(number)[:3]) < 0.5
        ax.text(
            j, i, f"{number:.2f}".rstrip("0").rstrip("."), ha="center", va="center", color="white" if dark else "black"
        )


fig, ax = plt.subplots(figsize=(4, 3.6))
draw(weights, words, words, "attention weights (row: query, column: key)", ax)

# %% [markdown] lang="en"
# The output of each word is the sum of all values, by these weights. *smile* came in knowing that it is an action; it goes
# out knowing that there is a person, and a manner:

# %% [markdown] lang="ko"
# 각 단어의 출력은 모든 밸류를 이 가중치로 더한 것입니다. *smile*은 자기가 동작이라는 것만 알고 들어왔지만, 누가 어떻게
# 웃는지까지 알고 나갑니다.

# %%
output = weights @ value
pd.DataFrame(output, words, features).round(3)

# %% [markdown] lang="en"
# ## The same through our layers
#
# [`scaled_dot_product_attention`](../keras_transformer/layers/attention.py) returns the output and the weights:

# %% [markdown] lang="ko"
# ## 같은 계산을 우리 층으로
#
# [`scaled_dot_product_attention`](../keras_transformer/layers/attention.py)은 출력과 가중치를 돌려줍니다.

# %%
layer_output, layer_weights = scaled_dot_product_attention(query, key, value, mask=None)
print("weights differ by", np.abs(np.asarray(layer_weights) - weights).max().round(6))
print("outputs differ by", np.abs(np.asarray(layer_output) - output).max().round(6))

# %% [markdown] lang="en"
# `MultiHeadAttention` multiplies by the matrices too. It has four of them: the fourth, $W^O$, mixes the heads (section
# 3.2.2). With one head, our three matrices and an identity, it gives the same once more:

# %% [markdown] lang="ko"
# `MultiHeadAttention`은 행렬 곱까지 합니다. 행렬은 네 개인데, 네 번째 $W^O$는 헤드를 섞습니다(3.2.2절). 헤드를 하나만 두고
# 우리 행렬 셋과 단위행렬을 넣으면 또 같은 결과가 나옵니다.

# %%
attention = MultiHeadAttention(d_model=4, num_heads=1)
attention.build({"query": (1, 3, 4), "key": (1, 3, 4), "value": (1, 3, 4)})
for dense, matrix in [
    (attention.query_dense, w_query),
    (attention.key_dense, w_key),
    (attention.value_dense, w_value),
    (attention.dense, np.eye(4)),
]:
    dense.set_weights([matrix, np.zeros(4)])

batch = x[np.newaxis].astype("float32")
layer_output = attention({"query": batch, "key": batch, "value": batch, "mask": None})
print("outputs differ by", np.abs(np.asarray(layer_output)[0] - output).max().round(6))

# %% [markdown] lang="en"
# ## Why divide by √d_k
#
# Let queries and keys be random numbers of variance 1. Their product is a sum of $d_k$ terms, so its variance is $d_k$: the
# longer the vectors, the larger the scores. The softmax of large scores gives nearly all weight to one key, and there its
# slope is nearly 0: nothing is left to learn from (section 3.2.1). Dividing by $\sqrt{d_k}$ brings the variance back to 1.

# %% [markdown] lang="ko"
# ## 왜 √d_k로 나눌까
#
# 쿼리와 키가 분산 1인 무작위 숫자라고 합시다. 둘의 내적은 $d_k$개의 항을 더한 것이라 분산이 $d_k$입니다. 벡터가 길수록 점수가
# 커집니다. 점수가 크면 소프트맥스는 한 키에 거의 모든 가중치를 주고, 그곳의 기울기는 거의 0이어서 배울 것이 남지 않습니다
# (3.2.1절). $\sqrt{d_k}$로 나누면 분산이 1로 돌아옵니다.

# %%
random = np.random.default_rng(0)
KEYS, TRIALS = 10, 500


def slope(weights):
    """Returns the mean norm of the softmax's Jacobian: how much the weights move when the scores move a little."""
    jacobian = np.einsum("ti,ij->tij", weights, np.eye(KEYS)) - np.einsum("ti,tj->tij", weights, weights)
    return np.linalg.norm(jacobian, axis=(1, 2)).mean()


rows = []
for d_k in [1, 4, 16, 64, 256, 1024]:
    products = np.einsum("td,tkd->tk", random.normal(size=(TRIALS, d_k)), random.normal(size=(TRIALS, KEYS, d_k)))
    for name, divisor in [("not scaled", 1), ("divided by √d_k", np.sqrt(d_k))]:
        weights_of_keys = softmax(products / divisor)
        deviation, largest = products.std() / divisor, weights_of_keys.max(axis=1).mean()
        rows.append((name, d_k, deviation, largest, slope(weights_of_keys)))
columns = ["scores", "d_k", "standard deviation", "largest weight", "slope"]
measured = pd.DataFrame(rows, columns=columns)
measured.pivot(index="d_k", columns="scores", values=columns[2:]).round(3)

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, column in zip(axes, ["largest weight", "slope"]):
    for (name, lines), style in zip(measured.groupby("scores"), ["o-", "s--"]):
        ax.plot(lines["d_k"], lines[column], style, label=name)
    ax.set(xscale="log", xlabel="d_k", ylabel=column, ylim=(0, None), title=f"softmax over {KEYS} keys: {column}")
    ax.legend()

# %% [markdown] lang="en"
# ## Masks (section 3.2.3)
#
# Two things must not be looked at: **padding**, the zeros that fill short sentences up, and, in the decoder, **the
# future**, the answer's tokens that are not written yet. In our masks, as in the tutorials', 1 means *hide*. Three
# tokens, then two of padding:

# %% [markdown] lang="ko"
# ## 마스크 (3.2.3절)
#
# 보면 안 되는 것이 두 가지 있습니다. 짧은 문장을 채우는 0, 곧 **패딩**과, 디코더에서는 **미래**, 곧 아직 쓰지 않은 답의
# 토큰입니다. 튜토리얼과 마찬가지로 우리 마스크에서도 1은 *가린다*는 뜻입니다. 토큰 셋 뒤에 패딩 둘이 있는 문장입니다.

# %%
ids = np.array([[7, 12, 5, 0, 0]])
tokens = ["7", "12", "5", "0", "0"]
padding_mask = np.asarray(create_padding_mask(ids))  # (batch, 1, 1, length)
look_ahead_mask = np.asarray(create_look_ahead_mask(ids))  # (batch, 1, length, length)
print(padding_mask.shape, look_ahead_mask.shape)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
every_row = np.broadcast_to(padding_mask[0, 0], (5, 5))
for ax, mask, title in [(axes[0], every_row, "padding mask"), (axes[1], look_ahead_mask[0, 0], "look-ahead mask")]:
    draw(mask, tokens, tokens, title, ax, "Greys")
    ax.set(xlabel="key", ylabel="query")

# %% [markdown] lang="en"
# What is hidden gets the weight 0, and the rest shares the whole attention. With the look-ahead mask, *messi* sees nothing
# but itself, and *smile* does not know *brightly* yet:

# %% [markdown] lang="ko"
# 가려진 것은 가중치가 0이 되고, 나머지가 어텐션 전부를 나누어 가집니다. 룩어헤드 마스크를 쓰면 *messi*는 자기 자신만 보고,
# *smile*은 아직 *brightly*를 모릅니다.

# %%
future = np.asarray(create_look_ahead_mask(np.array([[1, 1, 1]])))[0, 0]
_, masked = scaled_dot_product_attention(query, key, value, mask=future)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
draw(weights, words, words, "no mask", axes[0])
draw(np.asarray(masked), words, words, "look-ahead mask", axes[1])

# %% [markdown] lang="en"
# A row that may see nothing at all gives zeros, not NaN, here. And this is what the mask is for: **the future cannot change
# the past**. We change the last word; nothing moves before it.

# %% [markdown] lang="ko"
# 아무것도 볼 수 없는 줄은 NaN이 아니라 0이 됩니다. 그리고 마스크의 목적은 이것입니다. **미래는 과거를 바꿀 수 없습니다.**
# 마지막 단어를 바꾸어도 그 앞은 조금도 달라지지 않습니다.

# %%
other = x.copy()
other[2] = [9.0, 9.0, 9.0, 1.0]
before, _ = scaled_dot_product_attention(query, key, value, mask=future)
after, _ = scaled_dot_product_attention(other @ w_query, other @ w_key, other @ w_value, mask=future)
change = np.abs(np.asarray(after) - np.asarray(before)).max(axis=1)
pd.DataFrame({"change of the output": change}, words).round(3)

# %%
_, nothing_seen = scaled_dot_product_attention(query, key, value, mask=np.ones((3, 3)))
np.asarray(nothing_seen)

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Change $W^Q$ so that *brightly* looks for a person. Work out its row of weights on paper, then run the cells again.
# 2. Leave out the division by $\sqrt{d_k}$: who takes attention from whom?
# 3. Give `MultiHeadAttention` two heads, with the matrices as they are. Which two features does each head see, and what
#    does *smile* look at in each?
#
# Next: [2. Positions and layers](02_positions_and_layers.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. *brightly*가 사람을 찾도록 $W^Q$를 바꿔 보세요. 그 줄의 가중치를 종이에 먼저 계산한 다음 셀을 다시 실행해 보세요.
# 2. $\sqrt{d_k}$로 나누지 않으면 누구의 어텐션이 누구에게로 갈까요?
# 3. 행렬은 그대로 두고 `MultiHeadAttention`의 헤드를 둘로 늘려 보세요. 헤드마다 어떤 두 숫자를 보고, *smile*은 각각
#    무엇을 볼까요?
#
# 다음: [2. 위치와 층](02_positions_and_layers.ko.ipynb)
