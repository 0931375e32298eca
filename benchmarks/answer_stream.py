"""How much does streaming an answer cost, compared with returning it as a whole?

    python -m benchmarks.answer_stream [--presets tutorial base] [--calls N]

The weights are random. Each question has 10 tokens, and each answer exactly 20 new tokens. `Chatbot.stream` and
`Chatbot.reply` are called in turn.
"""

import time

import keras

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK, Corpus
from benchmarks.results import median_and_range, publish, table
from keras_transformer import PRESETS, Chatbot, GenerationConfig, Tokenizer, preset, transformer

NAME = "answer_stream"
SOURCE, TOKENS, WARM_UP = 10, 20, 3


def make_chatbot(config):
    """Returns a chatbot of the given sizes with random weights, and a question of `SOURCE` tokens."""
    pairs = Corpus(SMALL_TALK).pairs
    tokenizer = Tokenizer.train([*pairs["question"], *pairs["answer"]], config.vocab_size)
    keras.utils.set_random_seed(0)
    sizes = (config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout)
    bot = Chatbot(transformer(tokenizer.vocab_size, *sizes), tokenizer, config.max_length)
    question = next(text for text in pairs["question"] if len(bot.ids_of([text])[0]) == SOURCE)
    return bot, question


def measure(config, calls):
    """Times streamed and whole answers.

    Args:
        config: The `Config` that gives the sizes of the model.
        calls: Number of answers of each kind.

    Returns:
        Four lists with one value per answer: milliseconds of a whole answer, milliseconds of a streamed answer,
            milliseconds until its first piece, and its number of pieces.
    """
    bot, question = make_chatbot(config)
    forced = GenerationConfig(min_length=TOKENS, max_length=TOKENS)
    at_once, streamed, first, pieces = [], [], [], []
    for _ in range(WARM_UP + calls):
        begin = time.perf_counter()
        bot.reply(question, generation=forced)
        at_once.append(1e3 * (time.perf_counter() - begin))
        begin = time.perf_counter()
        seen = [time.perf_counter() for _ in bot.stream(question, generation=forced)]
        streamed.append(1e3 * (time.perf_counter() - begin))
        first.append(1e3 * (seen[0] - begin))
        pieces.append(len(seen))
    return [found[WARM_UP:] for found in (at_once, streamed, first, pieces)]


def row_of(name, found):
    """Returns the table row of a preset from the results of `measure`."""
    at_once, streamed, first, pieces = found
    ratios = [b / a for a, b in zip(at_once, streamed, strict=True)]
    times = [median_and_range(times, 1) for times in (at_once, streamed)]
    return [name, *times, median_and_range(ratios, 2), median_and_range(first, 1), median_and_range(pieces, 0)]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument(
        "--presets", choices=PRESETS, nargs="+", default=["tutorial", "base"], help="default: tutorial base"
    )
    parser.add_argument("--calls", type=at_least(1), default=20, metavar="N", help="answers of each kind (default: 20)")
    options = parser.parse_args(arguments)
    rows = []
    for name in options.presets:
        say(f"asking a model of the preset {name} …")
        rows.append(row_of(name, measure(preset(name), options.calls)))
    header = ["sizes", "at once, ms", "streamed, ms", "ratio", "first piece after, ms", "pieces"]
    publish(options.results, NAME, "Streamed answers", [provenance(NAME, arguments), table(header, rows)])


if __name__ == "__main__":
    start(main)
