"""What all tabs of the page share: the studio's state, event handlers in a visitor's language, and markup."""

import contextlib
import dataclasses
import functools
import html
import inspect

import gradio

from keras_transformer.chat.answering import ANSWERING
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.errors import InputError
from keras_transformer.language import language_of_context
from keras_transformer.language import translate as _
from keras_transformer.runs.run import WEIGHTS
from keras_transformer.studio.command import Running
from keras_transformer.studio.training import Trainings
from keras_transformer.studio.workspace import Workspace

BOTS = 4  # Chatbots that are kept in memory.


class Studio:
    """What all visitors share: the folder, its trainings, the chatbots in memory, and commands under way.

    Args:
        path: The folder.
    """

    def __init__(self, path):
        self.workspace = Workspace(path)
        self.trainings, self.commands = Trainings(self.workspace), Running()
        self._bots = {}

    def bot(self, name):
        """Returns the `Chatbot` of a run; raises `InputError` if there is none or it is not trained yet."""
        path = self.workspace.run(name)
        stamp = [(path / file).stat().st_mtime_ns for file in (WEIGHTS, ANSWERING) if (path / file).exists()]
        bot, former = self._bots.pop(name, (None, None))
        if bot is None or stamp != former:
            bot = Chatbot.load(path)
        self._bots[name] = bot, stamp
        for oldest in list(self._bots)[:-BOTS]:
            del self._bots[oldest]
        return bot

    def end(self):
        """Stops all commands and trainings."""
        self.commands.cancel_all()
        self.trainings.end()


@dataclasses.dataclass(frozen=True)
class Page:
    """The page in one language.

    Attributes:
        studio: The `Studio`.
        language: "en" or "ko".
    """

    studio: Studio
    language: str

    @property
    def workspace(self):
        """The studio's `Workspace`."""
        return self.studio.workspace

    def on(self, events, function, inputs=None, outputs=None, **options):
        """Adds a handler to events. It runs in the page's language, and shows an `InputError` to the visitor."""
        return gradio.on(
            events, in_language(self.language, function), inputs, outputs, api_visibility="private", **options
        )

    def after(self, event, function, inputs=None, outputs=None, **options):
        """Adds a handler that follows the success of another one."""
        return event.success(
            in_language(self.language, function), inputs, outputs, api_visibility="private", **options
        )  # fmt: skip

    def choice(self, label, number=0, **options):
        """Returns a choice of a trained run, at first the one of a number."""
        names = self.workspace.trained()
        value = names[number] if number < len(names) else None
        return gradio.Dropdown(names, value=value, label=label, **options)

    def runs(self, chosen=None):
        """Returns the update of a choice of trained runs, which keeps what is chosen."""
        names = self.workspace.trained()
        return gradio.update(choices=names, value=chosen if chosen in names else next(iter(names), None))


def in_language(language, function):
    """Wraps an event handler, so that it runs in a language and shows an `InputError` to the visitor.

    Every step of a generator may run in another thread.
    """
    if not inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def call(*arguments):
            with language_of_context(language), shown_errors():
                return function(*arguments)

        return call

    @functools.wraps(function)
    def steps(*arguments):
        generator = function(*arguments)
        ended = object()
        while True:
            with language_of_context(language), shown_errors():
                step = next(generator, ended)
            if step is ended:
                return
            yield step

    return steps


@contextlib.contextmanager
def shown_errors():
    """Context manager that shows an `InputError` to the visitor, with its markup escaped."""
    try:
        yield
    except (InputError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise gradio.Error(html.escape(reason), duration=None, title=_("Not done"), print_exception=False) from error


def heading(text):
    """Adds a heading to the page."""
    gradio.HTML(f"<h2>{html.escape(text)}</h2>")


def table(headings, rows):
    """Returns an HTML table of texts, which are escaped."""
    head = "".join(f'<th scope="col">{html.escape(str(one))}</th>' for one in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(one))}</td>' for one in row)}</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def listed(texts):
    """Returns an HTML list of texts, which are escaped."""
    return f"<ul>{''.join(f'<li>{html.escape(str(text))}</li>' for text in texts)}</ul>"


def paragraph(text, kind="note"):
    """Returns an HTML paragraph of a text, which is escaped."""
    return f'<p class="{kind}">{html.escape(str(text))}</p>'


def status(text):
    """Returns a text, which is escaped, as a status that screen readers announce."""
    return f'<p class="note" role="status">{html.escape(str(text))}</p>'
