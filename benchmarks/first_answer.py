"""Where does the CPU time to the first answer go? `startup.py` starts this in a separate process."""

import json
import sys
import time

QUESTION = "안녕하세요"


def stages_of(run):
    """Returns what the CPU time to the first retrieved and to the first generated answer goes to.

    Args:
        run: The run folder.

    Returns:
        A list of pairs of a stage and its CPU seconds. Nothing may be imported before.
    """
    stages, ends = [], [time.process_time()]

    def ended(stage):
        ends.append(time.process_time())
        stages.append((stage, ends[-1] - ends[-2]))

    import numpy  # noqa: F401

    ended("import NumPy")
    import scipy.sparse  # noqa: F401

    ended("import scipy.sparse")
    from keras_transformer.chat.chatbot import Chatbot

    ended("import the chatbot")
    bot = Chatbot.load(run)
    ended("read the run and its datastore")
    bot.matches([QUESTION])
    ended("index the datastore")
    bot.reply(QUESTION, answer_by="retrieve")
    ended("**retrieve an answer**")
    import tensorflow  # noqa: F401

    ended("import TensorFlow and Keras")
    bot.load_model()
    ended("build the model, load its weights")
    bot.reply(QUESTION, answer_by="generate")
    ended("compile the program of the first generated answer")
    bot.reply(QUESTION, answer_by="generate")
    ended("**generate an answer**")
    return stages


if __name__ == "__main__":
    print(json.dumps(stages_of(sys.argv[1])))
