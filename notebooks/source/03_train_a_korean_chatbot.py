# %% [markdown] lang="en"
# # 3. Train a Korean chatbot
#
# **English** · [한국어](03_train_a_korean_chatbot.ko.ipynb) · five to ten minutes on 2 CPU cores
#
# What you will learn:
#
# - how to get from a corpus to a chatbot with `model.fit`, as in every Keras tutorial;
# - how the learning rate changes during training;
# - what overfitting is, and why a chatbot may memorize its corpus while a translator may not;
# - how to answer questions that are not in the corpus.
#
# The paper: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762), section 5. The code:
# [`data/dataset.py`](../keras_transformer/data/dataset.py), [`models/transformer.py`](../keras_transformer/models/transformer.py),
# [`training/losses.py`](../keras_transformer/training/losses.py), [`chat/chatbot.py`](../keras_transformer/chat/chatbot.py),
# [`chat/question_index.py`](../keras_transformer/chat/question_index.py).

# %% [markdown] lang="ko"
# # 3. 한국어 챗봇 학습하기
#
# [English](03_train_a_korean_chatbot.ipynb) · **한국어** · CPU 코어 2개로 5~10분 걸립니다
#
# 이 노트북에서 배우는 것:
#
# - 여느 케라스 튜토리얼처럼 `model.fit`으로 말뭉치에서 챗봇을 만드는 법;
# - 학습하는 동안 학습률이 어떻게 변하는지;
# - 과적합이 무엇인지, 그리고 번역기는 말뭉치를 외우면 안 되는데 챗봇은 왜 외워도 되는지;
# - 말뭉치에 없는 질문에 답하는 법.
#
# 논문: [“Attention Is All You Need”](https://arxiv.org/abs/1706.03762) 5절. 코드:
# [`data/dataset.py`](../keras_transformer/data/dataset.py), [`models/transformer.py`](../keras_transformer/models/transformer.py),
# [`training/losses.py`](../keras_transformer/training/losses.py), [`chat/chatbot.py`](../keras_transformer/chat/chatbot.py),
# [`chat/question_index.py`](../keras_transformer/chat/question_index.py).

# %%
import importlib
import os
import subprocess
import sys

if importlib.util.find_spec("keras_transformer") is None:  # On a hosted machine.
    package = "..[datasets,visualize]"  # In a clone of the repository.
    if not os.path.exists("../setup.cfg"):
        sys.exit("Clone the repository and open this notebook there: it installs keras_transformer from the clone.")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", package], check=True)
    importlib.invalidate_caches()

# %%
import os

import keras
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from keras_transformer import *
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.chat.question_index import QuestionIndex

keras.utils.set_random_seed(0)
print("computes on", keras.distribution.list_devices("gpu") or "the CPU")

# %% [markdown] lang="en"
# ## The corpus
#
# 11,823 questions and answers of Korean small talk, by Youngsook Song (MIT licence). They are downloaded once and verified. To use your
# own corpus, replace the name with the path of a file.

# %% [markdown] lang="ko"
# ## 말뭉치
#
# 송영숙 님의 한국어 일상 대화 문답 11,823쌍입니다(MIT 라이선스). 처음 한 번만 내려받고, 받은 파일이 맞는지 확인합니다. 직접 만든
# 말뭉치를 쓰려면 이름 대신 파일 경로를 넣으세요.

# %%
CORPUS = os.environ.get("CORPUS", "chatbot_ko")
if CORPUS in [corpus.name for corpus in corpora()]:
    download_corpus(CORPUS)
    splits = load_corpus(CORPUS)
else:
    splits = split_pairs(load_pairs(CORPUS))

train_pairs, validation_pairs = splits["train"], splits["validation"]
train_pairs.head()

# %% [markdown] lang="en"
# ## The split
#
# One question in ten is held out of training: half for validation, half for a final test. A hash of the question decides, so the same
# question is never in two splits.

# %% [markdown] lang="ko"
# ## 데이터 나누기
#
# 질문 열 개 가운데 하나는 학습에 쓰지 않습니다. 그 절반은 검증에, 나머지 절반은 마지막 시험에 씁니다. 질문의 해시로 나누므로 같은
# 질문이 두 곳에 들어가지 않습니다.

# %%
pd.DataFrame({"pairs": {name: len(pairs) for name, pairs in splits.items()}})

# %% [markdown] lang="en"
# ## Text to tokens
#
# SentencePiece learns a vocabulary of 4,000 tokens from the training split. `▁` marks where a word begins.

# %% [markdown] lang="ko"
# ## 글을 토큰으로
#
# SentencePiece가 학습 데이터에서 토큰 4,000개의 어휘 집합을 만듭니다. `▁`는 단어가 시작하는 곳입니다.

# %%
tokenizer = Tokenizer.train([*train_pairs["question"], *train_pairs["answer"]], vocab_size=4000)
sentence = "오늘 날씨가 정말 좋네요"
pd.DataFrame([tokenizer.pieces(sentence), tokenizer.encode(sentence)], ["token", "id"])

# %% [markdown] lang="en"
# `make_dataset(…, packed=True)` packs several random pairs into each row, so there is hardly any padding; masks keep the pairs apart. The
# decoder input is the answer, shifted by one token: at each position the model predicts the next token.

# %% [markdown] lang="ko"
# `make_dataset(…, packed=True)`는 무작위로 고른 여러 쌍을 한 줄에 담습니다. 패딩이 거의 없고, 서로 다른 쌍은 마스크로 가립니다.
# 디코더의 입력은 한 토큰 밀린 답이며, 모델은 자리마다 다음 토큰을 맞힙니다.

# %%
BATCH_SIZE, MAX_LENGTH = 64, 64
train_data, validation_data = (
    make_dataset(splits[name], tokenizer, BATCH_SIZE, MAX_LENGTH, shuffle=name == "train", packed=True)
    for name in ("train", "validation")
)

inputs, targets = next(iter(train_data))
first = inputs["dec_segments"][0].numpy() == 1  # The first pair of the first row.
for name, ids in [("dec_inputs", inputs["dec_inputs"]), ("targets", targets)]:
    print(f"{name:<11}{ids.shape}  {ids[0].numpy()[first]}  {tokenizer.decode(ids[0].numpy()[first].tolist())}")

# %% [markdown] lang="en"
# ## Model and learning rate
#
# The model is meant to memorize the training split, so there is no dropout. Questions, answers and output projection share one embedding
# matrix (section 3.4). The learning rate rises for the first quarter of the steps, then falls to 0 along a cosine. The paper's schedule
# (section 5.3) is still warming up when this training ends.

# %% [markdown] lang="ko"
# ## 모델과 학습률
#
# 학습 데이터를 외우게 할 모델이므로 드롭아웃을 쓰지 않습니다. 질문과 답의 임베딩, 출력층이 행렬 하나를 함께 씁니다(3.4절). 학습률은 전체
# 스텝의 처음 4분의 1 동안 올라간 뒤 코사인 곡선을 따라 0까지 내려갑니다. 논문의 학습률(5.3절)은 4,000스텝 동안 올라가므로 이 학습이
# 끝날 때까지도 계속 오릅니다.

# %%
D_MODEL, EPOCHS = 256, 12
steps = EPOCHS * len(train_data)
warmup_steps = steps // 4
model = transformer(
    tokenizer.vocab_size, num_layers=2, dff=512, d_model=D_MODEL, num_heads=8, dropout=0.0, tie_embeddings=True
)
schedule = keras.optimizers.schedules.CosineDecay(
    0.0, steps - warmup_steps, warmup_target=1e-3, warmup_steps=warmup_steps
)
print(f"{model.count_params():,} parameters")
plot_schedule({"this notebook": schedule, "the paper, 4,000 steps of warm-up": CustomSchedule(D_MODEL)}, steps)

# %% [markdown] lang="en"
# ## Training
#
# `packed(model)` trains the weights of `model` on packed rows. Loss and accuracy ignore padding. Two sets of weights are saved: those of the
# epoch with the lowest validation loss, and the last.

# %% [markdown] lang="ko"
# ## 학습
#
# `packed(model)`은 여러 쌍이 담긴 줄로 `model`의 가중치를 학습합니다. 손실과 정확도를 잴 때 패딩은 세지 않습니다. 가중치는 두 벌을
# 저장합니다. 하나는 검증 손실이 가장 낮은 에포크의 것이고, 하나는 마지막 에포크의 것입니다.

# %%
optimizer = keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
joined = packed(model)
joined.compile(optimizer, loss=loss_function, metrics=[accuracy])
keep_lowest = keras.callbacks.ModelCheckpoint("lowest.weights.h5", save_best_only=True, save_weights_only=True)
history = joined.fit(
    train_data, validation_data=validation_data, epochs=EPOCHS, callbacks=[keep_lowest], shuffle=False, verbose=2
)  # The dataset shuffles by itself.
joined.save_weights("last.weights.h5")

# %%
curves = pd.DataFrame(history.history, index=range(1, EPOCHS + 1))
lowest = curves["val_loss"].idxmin()

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].plot(curves["accuracy"], "o-", label="training")
axes[0].plot(curves["val_accuracy"], "s--", label="validation")
axes[1].plot(curves["val_loss"], "s--", color="C1", label="validation")
for ax, name, unit in [(axes[0], "accuracy", "share of tokens"), (axes[1], "loss", "nats per token")]:
    ax.axvline(lowest, color="0.7", zorder=0, label=f"lowest validation loss: epoch {lowest}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="epoch", ylabel=unit, title=name)
    ax.legend()

# %% [markdown] lang="en"
# ## Reading the curves
#
# The training accuracy rises until nearly every token is right: the model has memorized the training split. The validation loss falls at
# first, and rises after the marked epoch: the model becomes too certain where it is wrong. This is **overfitting**. Whether it matters
# depends on the task:
#
# - **A translator must not overfit.** A rule leads from a sentence to its translation, and the model must follow it for every new
#   sentence. The validation loss measures that: keep the epoch where it is lowest.
# - **A chatbot may.** No rule leads from a question to its answer: many answers fit, and the corpus has one. A low validation loss then
#   means cautious guesses, not good answers. And a question from the corpus is worth answering as the corpus does.
#
# Compare the two sets of weights: how many of 300 training questions do they answer exactly as the corpus does? Decoding is greedy: it
# takes the likeliest token at every step.

# %% [markdown] lang="ko"
# ## 곡선 읽기
#
# 학습 정확도는 거의 모든 토큰을 맞힐 때까지 올라갑니다. 학습 데이터를 외운 것입니다. 검증 손실은 내려가다가 표시된 에포크를 지나면
# 올라갑니다. 틀린 답을 지나치게 확신하기 때문입니다. 이것이 **과적합**입니다. 과적합이 문제인지는 과제에 따라 다릅니다.
#
# - **번역기는 과적합하면 안 됩니다.** 문장과 번역문 사이에는 규칙이 있고, 모델은 처음 보는 모든 문장에 그 규칙을 적용해야 합니다. 그
#   능력을 재는 것이 검증 손실이므로, 검증 손실이 가장 낮은 에포크를 씁니다.
# - **챗봇은 과적합해도 됩니다.** 질문에서 답을 끌어내는 규칙은 없습니다. 어울리는 답은 여럿이고 말뭉치에는 그중 하나가 있을 뿐입니다.
#   이때 검증 손실이 낮다는 것은 조심스럽게 추측한다는 뜻이지, 답이 좋다는 뜻이 아닙니다. 그리고 말뭉치에 있는 질문에는 말뭉치대로
#   답하는 것이 좋습니다.
#
# 가중치 두 벌을 비교해 봅시다. 학습 질문 300개 가운데 몇 개에 말뭉치와 똑같이 답할까요? 디코딩은 매번 가장 그럴듯한 토큰을 고르는
# 탐욕적 디코딩입니다.

# %%
bot = Chatbot(model, tokenizer, MAX_LENGTH)
known = train_pairs.groupby("question")["answer"].agg(set)  # The answers to each question.
drawn = known.sample(min(300, len(known)), random_state=0)
own_questions = ["안녕하세요", "오늘 너무 피곤해", "주말에 뭐 하지?", "고백할까 말까", "커피 마시고 싶어"]
asked = [*own_questions, *validation_pairs["question"].sample(5, random_state=1)]


def matches(answers, right_answers):
    return [answer in right for answer, right in zip(answers, right_answers)]


answers = pd.DataFrame({"question": asked, "in training": ["yes" if text in known else "no" for text in asked]})
for file, label in [
    ("lowest.weights.h5", f"epoch {lowest}, lowest validation loss"),
    ("last.weights.h5", f"epoch {EPOCHS}, the last"),
]:
    joined.load_weights(file)
    share = np.mean(matches(bot.replies(list(drawn.index)), drawn))
    print(f"{label}: {share:.0%} of {len(drawn)} training questions answered exactly")
    answers[label] = bot.replies(asked)
answers

# %% [markdown] lang="en"
# The weights with the lowest validation loss know only part of the corpus's answers. The last ones know nearly all of them: we keep those.
#
# ## New questions
#
# Memorizing answers does not teach the model to compose new ones. What it composes for a new question is often beside the point, and
# sometimes not even a sentence. The simplest thing that helps is to give the answer of the nearest known question. `QuestionIndex` finds
# it. It compares the characters (TF-IDF), a little also those of its answer, and embeddings. `learn_embeddings` trains these on the
# corpus for some seconds: questions that have the same answer come to lie near each other, even if they share few characters.

# %% [markdown] lang="ko"
# 검증 손실이 가장 낮은 가중치는 말뭉치의 답을 일부만 기억합니다. 마지막 가중치는 거의 모두 기억하므로 이것을 씁니다.
#
# ## 처음 보는 질문
#
# 답을 외웠다고 해서 새 답을 지을 줄 알게 되지는 않습니다. 처음 보는 질문에 모델이 지어낸 답은 엉뚱할 때가 많고, 문장이 안 될 때도
# 있습니다. 가장 간단한 해결책은 아는 질문 가운데 가장 비슷한 질문의 답을 하는 것입니다. 그 질문은 `QuestionIndex`가 찾습니다. 글자를
# TF-IDF로 비교하고(그 질문의 답과도 조금 비교합니다), 임베딩도 비교합니다. 임베딩은 `learn_embeddings`가 말뭉치에서 몇 초 만에
# 학습합니다. 답이 같은 질문은 같은 글자가 적어도 서로 가까워집니다.

# %%
texts = list(train_pairs["question"]), list(train_pairs["answer"])
index = QuestionIndex(*texts, learn_embeddings(*texts))


def compare(questions):
    rows = []
    for question, composed, (numbers, similarities) in zip(questions, bot.replies(questions), index.nearest(questions)):
        nearest = train_pairs.iloc[numbers[0]]
        rows.append([question, composed, nearest["answer"], nearest["question"], round(float(similarities[0]), 2)])
    return pd.DataFrame(rows, columns=["question", "composed", "retrieved", "nearest known question", "similarity"])


compare([question for question in asked if question not in known])

# %%
unseen = validation_pairs.groupby("question")["answer"].agg(set)
compared = compare(list(unseen.index))
are_exact = compared[["composed", "retrieved"]].apply(lambda answers: matches(answers, unseen))
by_similarity = are_exact.groupby(pd.cut(compared["similarity"], [0, 0.6, 0.8, 1]), observed=True).mean()
print(f"Answered exactly, of {len(unseen)} validation questions:")
pd.concat([by_similarity, are_exact.mean().to_frame("all").T]).map("{:.0%}".format).rename_axis("similarity")

# %% [markdown] lang="en"
# Few answers are exactly the corpus's, but others fit too: read some of `compared` yourself. The answer of the nearest known question
# matches far more often, and more often the nearer that question is. Below a similarity of 0.6 it, too, is often beside the point.
#
# `keras-transformer train` does all this by itself. It recognizes a chat corpus, trains until the model has memorized it, and builds the index.
# Then it chooses on the validation questions how to answer: `generate` (compose), `retrieve` (the nearest known question), or `hybrid`
# (retrieve where the similarity is high enough, generate elsewhere).

# %% [markdown] lang="ko"
# 말뭉치와 똑같은 답은 드물지만 똑같지 않아도 어울리는 답이 있습니다. `compared`를 직접 읽어 보세요. 가장 비슷한 질문의 답이 훨씬 자주
# 일치하고, 질문이 비슷할수록 더 자주 일치합니다. 유사도가 0.6보다 낮으면 이 답도 엉뚱할 때가 많습니다.
#
# `keras-transformer train`은 이 모든 일을 알아서 합니다. 대화 말뭉치임을 알아보고, 말뭉치를 외울 때까지 학습하고, 질문 색인을 만듭니다.
# 그런 다음 검증 질문으로 답하는 방식을 고릅니다. `generate`는 답을 지어내고, `retrieve`는 가장 비슷한 질문의 답을 찾아 주며, `hybrid`는
# 유사도가 충분히 높을 때만 찾고 나머지는 지어냅니다.

# %% [markdown] lang="en"
# ## Save and load
#
# The model is an ordinary Keras model. The file holds no code, so it is safe to load.

# %% [markdown] lang="ko"
# ## 저장하고 불러오기
#
# 이 모델은 평범한 케라스 모델입니다. 파일에 코드가 들어 있지 않아 안전하게 불러올 수 있습니다.

# %%
model.save("chatbot.keras")
tokenizer.save("tokenizer.model")
loaded = Chatbot(keras.models.load_model("chatbot.keras"), Tokenizer.load("tokenizer.model"), MAX_LENGTH)
assert loaded.replies(asked) == bot.replies(asked)

# %% [markdown] lang="en"
# ## Three things to try
#
# 1. Raise `dropout` to 0.3. When does the validation loss turn now, and how many training questions are answered exactly?
# 2. Train with `CustomSchedule(D_MODEL)`, the second line of the schedule plot. Before you train, say what will happen.
# 3. Ask training questions in other words: leave out the spaces, change an ending, make a typo. Pass them to `compare`. When does the
#    composed answer change, and when the retrieved one?
#
# Before: [2. Positions and layers](02_positions_and_layers.ipynb). Next: [4. Look inside](04_look_inside.ipynb)

# %% [markdown] lang="ko"
# ## 해 볼 것 세 가지
#
# 1. `dropout`을 0.3으로 올려 보세요. 검증 손실은 이제 언제 방향을 바꾸고, 학습 질문 가운데 몇 개에 똑같이 답하나요?
# 2. 학습률 그림의 두 번째 곡선인 `CustomSchedule(D_MODEL)`로 학습해 보세요. 학습하기 전에 무슨 일이 일어날지 먼저 말해 보세요.
# 3. 학습 질문을 다르게 물어보세요. 띄어쓰기를 빼거나, 어미를 바꾸거나, 오타를 내서 `compare`에 넣으세요. 지어낸 답은 언제
#    달라지고, 찾은 답은 언제 달라지나요?
#
# 이전: [2. 위치와 층](02_positions_and_layers.ko.ipynb). 다음: [4. 속을 들여다보기](04_look_inside.ko.ipynb)
