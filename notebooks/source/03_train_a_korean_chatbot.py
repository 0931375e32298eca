# %% [markdown] lang="en"
# # 3. Train a Korean chatbot
#
# **English** · [한국어](03_train_a_korean_chatbot.ko.ipynb) · about three minutes on 2 CPU cores
#
# What you will learn:
#
# - the way from a corpus to a model that answers, with `model.fit` as in every Keras tutorial;
# - what the learning rate does, step by step;
# - how to read training curves: what overfitting looks like on this corpus, and what validation tells you about it.
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), section 5. The code:
# [`data/pipeline.py`](../keras_transformer/data/pipeline.py), [`training/schedule.py`](../keras_transformer/training/schedule.py),
# [`training/losses.py`](../keras_transformer/training/losses.py), [`decoding/generate.py`](../keras_transformer/decoding/generate.py).

# %% [markdown] lang="ko"
# # 3. 한국어 챗봇 학습하기
#
# [English](03_train_a_korean_chatbot.ipynb) · **한국어** · CPU 코어 2개로 3분쯤 걸립니다
#
# 이 노트북에서 배우는 것:
#
# - 말뭉치에서 대답하는 모델까지, 여느 케라스 튜토리얼처럼 `model.fit`으로 가는 길;
# - 학습률이 스텝마다 어떻게 움직이는지;
# - 학습 곡선을 읽는 법: 이 말뭉치에서 과적합은 어떤 모습이고, 검증은 무엇을 알려 주는지.
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 5절. 코드:
# [`data/pipeline.py`](../keras_transformer/data/pipeline.py), [`training/schedule.py`](../keras_transformer/training/schedule.py),
# [`training/losses.py`](../keras_transformer/training/losses.py), [`decoding/generate.py`](../keras_transformer/decoding/generate.py).

# %%
import importlib
import subprocess
import sys

if importlib.util.find_spec("keras_transformer") is None:  # On a hosted machine, in a clone of the repository.
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "..[datasets,visualize]"], check=True)
    importlib.invalidate_caches()

# %%
import os

import keras
import matplotlib.pyplot as plt
import pandas as pd

from keras_transformer import *

keras.utils.set_random_seed(0)
print("computes on", keras.distribution.list_devices("gpu") or "the CPU")

# %% [markdown] lang="en"
# ## The corpus
#
# 11,823 questions and answers of Korean small talk, by Youngsook Song (MIT licence). They are downloaded at first and checked. For a
# corpus of your own, put a file's path in place of the name.

# %% [markdown] lang="ko"
# ## 말뭉치
#
# 송영숙 님의 한국어 일상 대화 문답 11,823쌍입니다(MIT 라이선스). 처음 한 번 내려받아 확인합니다. 여러분의 말뭉치를 쓰려면 이름
# 자리에 파일 경로를 넣으세요.

# %%
CORPUS = os.environ.get("CORPUS", "chatbot_ko")
if CORPUS in [corpus.name for corpus in corpora()]:
    download_corpus(CORPUS)
    parts = load_corpus(CORPUS)
else:
    parts = split_pairs(load_pairs(CORPUS))

parts["train"].head()

# %% [markdown] lang="en"
# ## What the model never sees
#
# One question of ten is kept out of training: half for validation, half for a test at the very end. A hash of the question
# decides, so that no question stands on both sides.

# %% [markdown] lang="ko"
# ## 모델이 보지 못하는 것
#
# 질문 열 개 가운데 하나는 학습에서 빼 둡니다. 절반은 검증에, 절반은 맨 마지막 시험에 씁니다. 질문의 해시로 나누므로 같은
# 질문이 양쪽에 들어가지 않습니다.

# %%
pd.DataFrame({"pairs": {name: len(part) for name, part in parts.items()}})

# %% [markdown] lang="en"
# ## Text to numbers
#
# SentencePiece learns 2,000 pieces from the training part. `▁` marks where a word begins.

# %% [markdown] lang="ko"
# ## 글을 숫자로
#
# SentencePiece가 학습용 부분에서 조각 2,000개를 배웁니다. `▁`는 단어가 시작하는 곳입니다.

# %%
known = parts["train"]
tokenizer = Tokenizer.train([*known["question"], *known["answer"]], vocab_size=2000)
sentence = "오늘 날씨가 정말 좋네요"
pd.DataFrame([tokenizer.pieces(sentence), tokenizer.encode(sentence)], ["piece", "id"])

# %% [markdown] lang="en"
# `make_dataset` puts several random pairs into a row, so that hardly any padding is computed; the masks keep them apart. The
# decoder reads the answer one token late: at each place it is asked for the next one.

# %% [markdown] lang="ko"
# `make_dataset`은 무작위로 고른 여러 쌍을 한 줄에 담아 패딩을 거의 계산하지 않게 하고, 마스크가 서로를 가려 줍니다. 디코더는 답을
# 한 토큰 늦게 읽으며, 자리마다 다음 토큰을 맞혀야 합니다.

# %%
BATCH_SIZE, MAX_LENGTH = 64, 64
train_data, validation_data = (
    make_dataset(parts[name], tokenizer, BATCH_SIZE, MAX_LENGTH, shuffle=name == "train", packed=True)
    for name in ("train", "validation")
)

inputs, targets = next(iter(train_data))
first = inputs["dec_segments"][0].numpy() == 1  # The first pair of the first row.
for name, ids in [("dec_inputs", inputs["dec_inputs"]), ("targets", targets)]:
    print(f"{name:<11}{ids.shape}  {ids[0].numpy()[first]}  {tokenizer.decode(ids[0].numpy()[first].tolist())}")

# %% [markdown] lang="en"
# ## Model and learning rate
#
# Half the tutorial's width, so that it takes three minutes. The learning rate rises for 1,000 steps, then falls as $1/\sqrt{step}$
# (section 5.3); without the rise, the first large steps spoil the weights.

# %% [markdown] lang="ko"
# ## 모델과 학습률
#
# 3분 만에 끝나도록 너비를 튜토리얼의 절반으로 줄였습니다. 학습률은 1,000스텝 동안 올라간 다음 $1/\sqrt{step}$로 내려갑니다
# (5.3절). 올라가는 구간이 없으면 처음의 큰 걸음이 가중치를 망칩니다.

# %%
D_MODEL, EPOCHS = 128, 16
model = transformer(tokenizer.vocab_size, num_layers=2, dff=512, d_model=D_MODEL, num_heads=8, dropout=0.1)
schedule = CustomSchedule(D_MODEL, warmup_steps=1000)
print(f"{model.count_params():,} parameters")
plot_schedule(
    {"this notebook": schedule, "4,000 steps of warm-up, as in the paper": CustomSchedule(D_MODEL)},
    EPOCHS * len(train_data),
)

# %% [markdown] lang="en"
# ## Training
#
# `packed(model)` reads the packed rows with the weights of `model`. Loss and accuracy count no padding. After every epoch the validation part is measured, and the weights are kept if they are the
# best so far.

# %% [markdown] lang="ko"
# ## 학습
#
# `packed(model)`은 `model`의 가중치로 여러 쌍이 담긴 줄을 읽습니다. 손실과 정확도는 패딩을 세지 않습니다. 에포크가 끝날 때마다 검증용 부분을 재고, 지금까지 가장 좋으면 가중치를 남깁니다.

# %%
optimizer = keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
joined = packed(model)
joined.compile(optimizer, loss=loss_function, metrics=[accuracy])
keep_best = keras.callbacks.ModelCheckpoint("best.weights.h5", save_best_only=True, save_weights_only=True)
history = joined.fit(
    train_data, validation_data=validation_data, epochs=EPOCHS, callbacks=[keep_best], shuffle=False, verbose=2
)  # The dataset shuffles by itself.
joined.load_weights("best.weights.h5")

# %%
curves = pd.DataFrame(history.history, index=range(1, EPOCHS + 1))
best = curves["val_loss"].idxmin()

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, name, unit in [(axes[0], "loss", "loss, nats a token"), (axes[1], "accuracy", "share of tokens")]:
    ax.plot(curves[name], "o-", label="training")
    ax.plot(curves[f"val_{name}"], "s--", label="validation")
    ax.axvline(best, color="0.7", zorder=0, label=f"best epoch: {best}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="epoch", ylabel=unit, title=name)
    ax.legend()

# %% [markdown] lang="en"
# ## Reading the curves
#
# The training loss falls to the end. The validation loss falls more and more slowly, and after the epoch marked no further: from about there on
# the model learns the answers of the training part by heart, and gets more and more sure of them where they are wrong. That is
# **overfitting**. The gap between the two lines is its measure. The validation *accuracy* may go on creeping up: the likeliest token is right a
# little more often, but the model is much too sure when it is not.
#
# Measured on training data alone, every epoch looks like an improvement. That is why `keras-transformer train` always keeps validation
# pairs back, and keeps the best weights, not the last.

# %% [markdown] lang="ko"
# ## 곡선 읽기
#
# 학습 손실은 끝까지 내려갑니다. 검증 손실은 점점 천천히 내려가다가 표시된 에포크부터는 더 내려가지 않습니다. 그 무렵부터 모델은 학습용 답을
# 외우고, 틀린 답에도 점점 더 자신만만해집니다. 이것이 **과적합**이고, 두 선 사이의 틈이 그 크기입니다. 검증 *정확도*는 조금씩 더 오를 수도
# 있습니다. 가장 그럴듯한 토큰이 맞는 일은 조금 늘지만, 틀릴 때 지나치게 확신하기 때문입니다.
#
# 학습 데이터로만 재면 모든 에포크가 나아지는 것처럼 보입니다. 그래서 `keras-transformer train`은 언제나 검증용 쌍을 따로 두고,
# 마지막 가중치가 아니라 가장 좋은 가중치를 남깁니다.


# %% [markdown] lang="en"
# ## Answers
#
# With the best weights, to questions from both sides. Few answers are the corpus' own, and that is as it should be: with so many different
# answers, the model learns what *kind* of answer fits. Look for its favourite phrases, and for what it does when it does not know.

# %% [markdown] lang="ko"
# ## 대답
#
# 가장 좋은 가중치로, 양쪽의 질문에 답해 봅니다. 말뭉치의 답과 똑같은 답은 드뭅니다. 답이 이렇게 여러 가지일 때 모델이 배우는 것은 *어떤
# 종류의* 답이 어울리는가이기 때문입니다. 모델이 즐겨 쓰는 말버릇을, 그리고 잘 모를 때 무엇을 하는지 찾아보세요.


# %%
def answers(questions):
    return Chatbot(model, tokenizer, MAX_LENGTH).replies(questions)


asked = parts["train"].sample(4, random_state=1), parts["validation"].sample(4, random_state=1)
table = pd.concat(asked, keys=["trained on", "never seen"]).droplevel(1)[["question", "answer"]]
table["the model's answer"] = answers(table["question"])
table

# %%
questions = ["안녕하세요", "오늘 너무 피곤해", "주말에 뭐 하지?", "고백할까 말까", "커피 마시고 싶어"]
pd.DataFrame({"question": questions, "answer": answers(questions)})

# %% [markdown] lang="en"
# ## Keep it
#
# The model is an ordinary Keras model, and safe to load: no code is in the file.

# %% [markdown] lang="ko"
# ## 남겨 두기
#
# 이 모델은 평범한 케라스 모델이고, 파일에 코드가 들어 있지 않아 안전하게 불러올 수 있습니다.

# %%
model.save("chatbot.keras")
tokenizer.save("tokenizer.model")
again = Chatbot(keras.models.load_model("chatbot.keras"), Tokenizer.load("tokenizer.model"), MAX_LENGTH)
assert again.replies(questions) == answers(questions)

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Raise `dropout` to 0.3. When does the validation loss turn now, and how low was it?
# 2. Set `warmup_steps=4000`: draw the schedule for `EPOCHS * len(train_data)` steps and say, before you train, what will happen.
# 3. Train 40 epochs and do not load the best weights. How many questions of the training part come back word for word now?
#
# Before: [2. Positions and layers](02_positions_and_layers.ipynb). Next: [4. Look inside](04_look_inside.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. `dropout`을 0.3으로 올려 보세요. 검증 손실은 이제 언제 방향을 바꾸고, 얼마까지 내려갔나요?
# 2. `warmup_steps=4000`으로 두고 `EPOCHS * len(train_data)` 스텝의 학습률을 그린 다음, 학습하기 전에 무슨 일이 일어날지 말해 보세요.
# 3. 40에포크를 학습하고 가장 좋은 가중치를 불러오지 마세요. 이제 학습용 질문 가운데 몇 개가 글자 그대로 돌아오나요?
#
# 이전: [2. 위치와 층](02_positions_and_layers.ko.ipynb). 다음: [4. 속을 들여다보기](04_look_inside.ko.ipynb)
