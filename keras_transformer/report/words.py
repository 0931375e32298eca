"""The texts of a report in English and Korean."""

from typing import Any

from keras_transformer.visualize.confidence import LABELS

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "title": "Report on the run “{}”",
        "summary": "{right} of {questions} questions are answered as the corpus does ({low} to {high}); "
        "chrF {chrf}, {bits} bits per character.",
        "leaked": "{leaked} of {questions} questions are in the run's training data: the scores do not measure unseen "
        "questions.",
        "unknown": "The run was trained on another corpus, which was not found: these questions may have been in its "
        "training data.",
        "split": "the {split} split of {corpus}",
        "whole": "all of {corpus}",
        "asked": "{questions} questions with {pairs} answers: {part}. Each question is asked "
        "once, and all of its answers in the corpus are references.",
        "scores": "Scores",
        "score": "score",
        "value": "value",
        "interval": "95 % interval",
        "intervals": "The confidence intervals (1,000 bootstrap resamples of the questions) show how much a score "
        "depends on the choice of the questions.",
        "drawn": "Answers",
        "drawn_how": "Drawn at random from all questions, independently of the answers.",
        "worst": "The worst answers",
        "worst_how": "The answers with the lowest chrF among the other questions.",
        "corpus": "corpus",
        "run": "run",
        "nothing": "(nothing)",
        "training": "Training",
        "trained": "Epoch {best} was the best of {epochs} by {monitor}; the run uses its weights.",
        "so_far": "The training has not finished yet.",
        "seconds": "The training took {} s.",
        "training_how": "By epoch; thick: validation, thin: training, dot: the best epoch.",
        "refusals": "Confidence threshold",
        "refusals_how": "With --fallback, answers of low confidence are replaced. --refusals sets the allowed share of "
        "in-domain questions that are refused (grey); the other curves show invented out-of-domain questions: higher "
        "is better.",
        "refusal_labels": LABELS,
        "settings": "Settings",
        "settings_how": "As a config.toml file for keras-transformer train --config.",
        "trained_on": "Training corpus",
        "name": "name",
        "pairs": "pairs",
        "train": "training",
        "validation": "validation",
        "test": "test",
        "licence": "licence",
        "not_known": "unknown",
        "fingerprint": "fingerprint",
        "repeat": "How to reproduce it",
        "repeat_how": "Run these commands in the folder of the corpus, with the settings above in config.toml. On a "
        "CPU and with the same versions, the results are bit-identical.",
        "made": "page created",
    },
    "ko": {
        "title": "run “{}” 보고서",
        "summary": "질문 {questions}개 가운데 {right}에 말뭉치와 똑같이 답했습니다(95 % 구간 {low}–{high}). "
        "chrF {chrf}, 글자당 {bits}비트.",
        "leaked": "질문 {questions}개 가운데 {leaked}개가 이 run의 학습 데이터에 들어 있습니다. 처음 보는 질문에 대한 "
        "점수가 아닙니다.",
        "unknown": "다른 말뭉치로 학습한 run이고 그 말뭉치를 찾지 못했습니다. 학습할 때 본 질문이 섞여 있을 수 "
        "있습니다.",
        "split": "{corpus}의 {split} 데이터",
        "whole": "{corpus} 전체",
        "asked": "{part}, 질문 {questions}개와 답 {pairs}개입니다. 같은 질문은 한 번만 묻고, "
        "말뭉치에 있는 답은 모두 정답으로 봅니다.",
        "scores": "점수",
        "score": "점수",
        "value": "값",
        "interval": "95 % 구간",
        "intervals": "신뢰 구간은 질문을 1,000번 다시 뽑아(부트스트랩) 구했으며, 점수가 질문에 따라 얼마나 달라질 수 "
        "있는지를 나타냅니다.",
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
        "refusals": "신뢰도 임곗값",
        "refusals_how": "--fallback을 쓰면 신뢰도가 낮은 답을 정해진 문장으로 바꿉니다. 답할 수 있는 질문을 얼마까지 "
        "거절해도 되는지는 --refusals로 정합니다(회색). 나머지 곡선은 지어낸 도메인 밖 질문이며, 높을수록 좋습니다.",
        "refusal_labels": {
            "own": "도메인 안 질문(최대)",
            "rate": "허용한 오거절 비율",
            "share": "거절한 비율",
            "kinds": {
                "random Hangul": "무작위 한글",
                "random letters": "무작위 로마자",
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
        "test": "테스트용",
        "licence": "라이선스",
        "not_known": "모름",
        "fingerprint": "지문",
        "repeat": "재현 방법",
        "repeat_how": "위의 설정을 config.toml에 저장하고 말뭉치가 있는 폴더에서 실행합니다. CPU에서 같은 버전을 쓰면 "
        "결과가 비트 단위까지 같습니다.",
        "made": "작성 시각",
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
    "bits_per_char": "정답의 글자당 비트, 낮을수록 좋음",
    "loss": "토큰당 교차 엔트로피(내트)",
    "perplexity": "손실의 지수 함수값",
    "chrf": "글자 n-그램 F 점수, 0–100",
    "bleu": "글자(tok:char)나 단어(tok:13a) n-그램의 정밀도, 0–100",
    "exact_match": "정답과 똑같은 답",
    "word_error_rate": "가장 가까운 정답까지 고쳐야 하는 단어의 비율",
    "copied": "학습 데이터에 그대로 있는 답",
    "distinct_1": "서로 다른 단어",
    "distinct_2": "서로 다른 단어 쌍",
    "answer_length": "답의 평균 글자 수",
}
"""The descriptions of the scores in Korean."""
