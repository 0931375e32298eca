"""Private and undocumented names of other libraries. They may change in any version, so no other module uses them.

Each function says which name it uses, and why there is no public way. Only a subclass uses inherited ones elsewhere:
`AveragingAdam`. `tests/test_compat.py` fails if a library drops one of the names.
"""

import argparse
import textwrap
import unicodedata


def all_layers(model):
    """Returns a model or layer and all layers inside it, at any depth.

    It uses `Layer._flatten_layers` of Keras. The public `Model.layers` has only the layers at the top, and a `Layer`
    that is no `Model` has no such attribute.

    Args:
        model: A built `keras.Model` or `keras.Layer`.
    """
    return model._flatten_layers()


def moving_averages(optimizer):
    """Returns the moving averages that an optimizer keeps of the weights, in the order of the trainable weights.

    It uses `Optimizer._model_variables_moving_average` of Keras. The public `Optimizer.variables` also has the moments
    and does not say which variable belongs to which weight. The public `finalize_variable_values` overwrites the
    weights.

    Args:
        optimizer: A built `keras.optimizers.Optimizer` with `use_ema=True`.
    """
    return optimizer._model_variables_moving_average


def sentence_statistics(metric, answers, references):
    """Returns the counts of each answer, whose sum over the answers determines the score of the corpus.

    It uses `Metric._extract_corpus_statistics` of sacreBLEU. The public methods only return scores of the corpus,
    and their bootstrap returns no bounds of the interval.

    Args:
        metric: A metric of `sacrebleu.metrics`.
        answers: A list of texts.
        references: A list of reference streams, as in `Metric.corpus_score`: one text or None per answer in each.

    Returns:
        A list with one list of numbers per answer.
    """
    return metric._extract_corpus_statistics(answers, references)


def score_of_statistics(metric, statistics):
    """Returns the score of a corpus, a float, from the sum of its `sentence_statistics`.

    It uses `Metric._compute_score_from_stats` of sacreBLEU. The public methods only accept texts.

    Args:
        metric: A metric of `sacrebleu.metrics`.
        statistics: A list of numbers.
    """
    return metric._compute_score_from_stats(statistics).score


def h11_protocol():
    """Returns uvicorn's class of an HTTP/1.1 connection, to be subclassed.

    It uses `uvicorn.protocols.http.h11_impl.H11Protocol`. Subclasses may use its attributes `conn`, `connections`,
    `loop` and `transport`, and override `connection_made`, `data_received`, `on_response_complete`, `pause_writing`,
    `resume_writing` and `connection_lost`. uvicorn accepts such a class (`Config(http=…)`), but documents none, and it
    has no setting that limits the time in which a request must be complete or a response must be read.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    return H11Protocol


def localize_argparse(translations):
    """Makes argparse take its own words, such as "usage", from gettext translations.

    It replaces `argparse._` and `argparse.ngettext`. Both are functions of `gettext`, which choose the language by the
    environment of the process alone.

    Args:
        translations: A `gettext.NullTranslations` or one of its subclasses.
    """
    argparse._, argparse.ngettext = translations.gettext, translations.ngettext


def actions_of(parser):
    """Yields the arguments of a parser and of its subcommands.

    It uses `ArgumentParser._actions` and the type of subcommands, `argparse._SubParsersAction`. The public methods only
    add arguments.
    """
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from actions_of(command)


class ParserWithChoices(argparse.ArgumentParser):
    """An argument parser whose subclasses say how a value outside the choices is refused.

    It overrides `_check_value` of argparse. From Python 3.14 on argparse suggests the nearest choice by itself, but not
    before, and its public methods get to know neither the value nor the choices.
    """

    def refuse_choice(self, action, value):
        """Raises `argparse.ArgumentError` or ends the process; argparse lists all choices if it does neither."""

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            self.refuse_choice(action, value)
        super()._check_value(action, value)


class HelpByColumns(argparse.RawDescriptionHelpFormatter):
    """Formats help texts by the columns that they take on a terminal, where a Korean syllable takes two.

    It overrides `_split_lines` and `_format_usage` of argparse, which counts characters and has no setting for it. They
    see a filler beside each wide character.
    """

    FILLER = "\0"

    def format_help(self):
        return super().format_help().replace(self.FILLER, "")

    def _split_lines(self, text, width):
        # As argparse does, but without breaking keras-transformer at its hyphen.
        return textwrap.wrap(" ".join(self._filled(text).split()), width, break_on_hyphens=False)

    def _format_usage(self, usage, actions, groups, prefix):
        localized = argparse._
        prefix = localized("usage: ") if prefix is None else prefix
        return super()._format_usage(usage, actions, groups, self._filled(prefix))

    def _filled(self, text):
        wide = (one + self.FILLER if unicodedata.east_asian_width(one) in "WF" else one for one in text)
        return "".join(wide)
