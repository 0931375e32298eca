"""What a report says, in its languages."""

from keras_transformer.visualize.confidence import LABELS

WORDS = {
    "en": {
        "title": "Report on the run “{}”",
        "summary": "{right} of {questions} questions are answered as the corpus does ({low} to {high}); "
        "chrF {chrf}, {bits} bits per character.",
        "met": "{met} of {questions} questions stand in the training part of the run's corpus: this is no test of what "
        "it never met.",
        "unknown": "The run was trained on another corpus, which was not found: it may have met these questions in "
        "training.",
        "asked": "{questions} questions with {pairs} answers: the {part} part of {corpus}. Each question is asked "
        "once, and all its answers in the corpus count as right.",
        "scores": "Scores",
        "score": "score",
        "value": "value",
        "interval": "95 % interval",
        "intervals": "The intervals (1,000 resamples of the questions) say how far a score may be off because other "
        "questions could have been asked.",
        "drawn": "Answers",
        "drawn_how": "Drawn at random from all questions, the same whatever the run answers.",
        "worst": "The worst answers",
        "worst_how": "Of all the others, those with the lowest chrF.",
        "corpus": "corpus",
        "run": "run",
        "nothing": "(nothing)",
        "training": "How it learned",
        "trained": "Epoch {best} was the best of {epochs} by {monitor}, and its weights are kept.",
        "so_far": "The training has not ended yet.",
        "seconds": "The training took {} s.",
        "training_how": "Against the epoch; thick: validation, thin: training, dot: the best epoch.",
        "refusals": "When it does not answer",
        "refusals_how": "With --fallback, answers that it is not sure of enough are replaced. How many questions like "
        "its own may be, is chosen (--refusals, grey); the other curves are questions that were invented and that "
        "nobody can answer: the higher, the better.",
        "refusal_labels": LABELS,
        "settings": "Settings",
        "settings_how": "As a file config.toml, which keras-transformer train --config reads.",
        "trained_on": "The corpus it was trained on",
        "name": "name",
        "pairs": "pairs",
        "train": "for training",
        "validation": "for validation",
        "test": "for the test",
        "licence": "licence",
        "not_known": "not known",
        "fingerprint": "fingerprint",
        "repeat": "How to repeat it",
        "repeat_how": "Beside the corpus, with the settings above in config.toml. On a CPU and with the versions of "
        "the training, no bit differs.",
        "made": "this page was made",
    },
    "ko": {
        "title": "run “{}” 보고서",
        "summary": "질문 {questions}개 가운데 {right}에 말뭉치와 똑같이 답했습니다(95 % 구간 {low}–{high}). "
        "chrF {chrf}, 글자당 {bits}비트.",
        "met": "질문 {questions}개 가운데 {met}개가 이 run의 학습 데이터에 들어 있습니다. 처음 보는 질문으로 한 "
        "시험이 아닙니다.",
        "unknown": "다른 말뭉치로 학습한 run이고 그 말뭉치를 찾지 못했습니다. 학습할 때 본 질문이 섞여 있을 수 "
        "있습니다.",
        "asked": "{corpus}의 {part} 부분, 질문 {questions}개와 답 {pairs}개입니다. 같은 질문은 한 번만 묻고, 말뭉치에 "
        "있는 답이면 어느 것이든 맞은 것으로 칩니다.",
        "scores": "점수",
        "score": "점수",
        "value": "값",
        "interval": "95 % 구간",
        "intervals": "구간은 질문을 1,000번 다시 뽑아 구했으며, 다른 질문을 물었다면 점수가 얼마나 달라졌을지를 "
        "뜻합니다.",
        "drawn": "답",
        "drawn_how": "모든 질문에서 무작위로 뽑았습니다. 어떤 run이든 같은 질문이 뽑힙니다.",
        "worst": "가장 나쁜 답",
        "worst_how": "나머지 질문 가운데 chrF가 가장 낮은 것들입니다.",
        "corpus": "말뭉치",
        "run": "run",
        "nothing": "(없음)",
        "training": "학습 과정",
        "trained": "{monitor} 기준으로 {epochs} 에포크 가운데 {best}번째가 가장 좋았고, 그때의 가중치를 씁니다.",
        "so_far": "학습이 아직 끝나지 않았습니다.",
        "seconds": "학습에 {}초 걸렸습니다.",
        "training_how": "가로축은 에포크, 굵은 선은 검증, 가는 선은 학습, 점은 가장 좋은 에포크입니다.",
        "refusals": "답하지 않을 때",
        "refusals_how": "--fallback을 쓰면 자신 없는 답을 다른 말로 바꿉니다. 자기 질문 가운데 얼마까지 잘못 거절해도 "
        "되는지는 --refusals로 정합니다(회색). 나머지 곡선은 아무도 답할 수 없게 지어낸 질문이고, 높을수록 좋습니다.",
        "refusal_labels": {
            "own": "calibrate로 물어본 것과 같은 질문(많아야)",
            "rate": "잘못 거절해도 되는 비율",
            "share": "거절한 비율",
            "kinds": {
                "random Hangul": "아무 한글",
                "random letters": "아무 로마자",
                "shuffled characters": "글자를 뒤섞은 질문",
                "mixed words": "낱말을 뒤섞은 질문",
            },
        },
        "settings": "설정",
        "settings_how": "keras-transformer train --config로 읽는 config.toml 파일의 내용입니다.",
        "trained_on": "학습한 말뭉치",
        "name": "이름",
        "pairs": "문답 쌍",
        "train": "학습용",
        "validation": "검증용",
        "test": "시험용",
        "licence": "라이선스",
        "not_known": "모름",
        "fingerprint": "지문",
        "repeat": "다시 해 보려면",
        "repeat_how": "말뭉치가 있는 폴더에서, 위의 설정을 config.toml에 담아 실행합니다. CPU에서 학습할 때와 같은 "
        "버전을 쓰면 한 비트도 다르지 않습니다.",
        "made": "이 페이지를 만든 때",
    },
}

PANELS = {
    "Loss (nats per token)": "손실(토큰당 내트)",
    "Bits per character": "글자당 비트",
    "Accuracy (share of tokens)": "정확도(맞은 토큰의 비율)",
    "Learning rate": "학습률",
}
"""The titles of the curves in Korean."""

ABOUT = {
    "bits_per_char": "말뭉치의 답을 맞히는 데 드는 글자당 비트, 적을수록 좋음",
    "loss": "같은 것을 토큰당 내트로",
    "perplexity": "같은 것을 확률이 똑같은 토큰의 수로",
    "chrf": "답과 말뭉치에 함께 나오는 글자 n-그램, 0–100",
    "bleu": "네 글자(tok:char)나 네 단어(tok:13a)까지 이어진 것, 0–100",
    "exact_match": "말뭉치에 그대로 있는 답",
    "word_error_rate": "말뭉치의 답이 되려면 고쳐야 할 단어",
    "copied": "학습 데이터에 그대로 있는 답",
    "distinct_1": "서로 다른 단어",
    "distinct_2": "서로 다른 단어 쌍",
    "answer_length": "답의 글자 수",
}
"""What the scores say, in Korean."""
