"""The tab "Talk": streamed answers with their sources and attention, and the right answer where one is wrong."""

import argparse
import dataclasses
import html

import gradio

from keras_transformer.chat.answering import WAYS
from keras_transformer.chat.attention_trace import trace_attention
from keras_transformer.chat.conversation import (
    guidance,
    is_known,
    unknown_characters,
    with_previous_turns,
)
from keras_transformer.decoding.options import (
    OF_BEAMS,
    OF_SAMPLES,
    OF_WORDS,
    SETTINGS,
    check_strategy_options,
    generation_config,
)
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.studio.page import paragraph, status, table
from keras_transformer.studio.workspace import LONGEST
from keras_transformer.visualize.attention_html import attention_html

GREEDY, BEAM, SAMPLE = "greedy", "--beam", "--sample"
MODEL = "model"  # Name of the limit for handlers that generate: one at a time.
MOST = 16  # Answers or beams.
CHOOSE = """
element.addEventListener("click", ({ target }) => {
  const suggestion = target.closest("button");
  if (suggestion) trigger("select", { question: suggestion.textContent });
});
"""


@dataclasses.dataclass(frozen=True)
class Turn:
    """A question in the conversation, and the reply.

    Attributes:
        question: The question.
        shown: What the page shows as the reply; None before there is any.
        answer: What the bot answered; "" if the page itself replied, for example that the question is not known.
        suggested: Known questions to choose from.
    """

    question: str
    shown: str | None = None
    answer: str = ""
    suggested: tuple[str, ...] = ()


def add_talk(page, run):
    """Adds the tab.

    Args:
        page: The `Page`.
        run: The choice of a bot, which is put there.
    """
    with gradio.Tab(_("Talk"), id="talk", render_children=True) as tab, gradio.Row():
        said, asked = gradio.State([]), gradio.State("")  # `Turn`s; the last question with the turns before it.
        with gradio.Column(scale=3, min_width=320):
            run.render()
            chat = gradio.HTML(conversation([]), js_on_load=CHOOSE, elem_id="conversation")
            with gradio.Row(elem_classes="field"):
                question = gradio.Textbox(
                    label=_("Your question"), max_length=LONGEST, scale=4, elem_id="question", autofocus=True
                )
                send = gradio.Button(_("Ask"), variant="primary", min_width=80, scale=1)
            with gradio.Row():
                stop = gradio.Button(_("Stop"), size="sm", min_width=80)
                clear = gradio.Button(_("New conversation"), size="sm", min_width=120)
            with gradio.Accordion(_("Wrong? Teach the right answer"), open=True):
                with gradio.Row(elem_classes="field"):
                    right = gradio.Textbox(
                        label=_("Right answer to your last question"), max_length=LONGEST, scale=4, elem_id="right"
                    )
                    teach = gradio.Button(_("Teach"), min_width=110, scale=1)
                taught = gradio.HTML(elem_id="taught")
            controls = add_controls()
        with gradio.Column(scale=2, min_width=320):
            sources = gradio.HTML(paragraph(_("The sources of each answer appear here.")), elem_id="sources")
            shown = gradio.Checkbox(True, label=_("Show the attention of each answer"))
            attention = gradio.HTML(elem_id="attention")

    def answer(*arguments):
        yield from answers(page, *arguments)

    def choose(suggestion: gradio.EventData) -> str:
        return suggestion.question

    def correct(run, asked, right):
        return teach_answer(page, run, asked, right)

    def attend(*arguments):
        yield from attention_of(page, *arguments)

    one_at_a_time = {"concurrency_limit": 1, "concurrency_id": MODEL}
    what, where = [question, said, run, *controls], [chat, said, question, sources, attention, asked]
    how = {**one_at_a_time, "show_progress": "minimal", "show_progress_on": chat}
    choosing = page.on(chat.select, choose, None, question, show_progress="hidden")
    asking = [
        page.on([send.click, question.submit], answer, what, where, **how),
        page.after(choosing, answer, what, where, **how),
    ]
    attending = [
        page.after(
            one, attend, [asked, run, shown, *controls], attention, **one_at_a_time, show_progress="hidden",
            trigger_mode="always_last",
        )
        for one in asking
    ]  # fmt: skip
    stop.click(None, cancels=[*asking, *attending], api_visibility="private")
    page.on([teach.click, right.submit], correct, [run, asked, right], [taught, right])
    page.on(
        [clear.click, run.input],
        lambda: (conversation([]), [], "", "", "", ""),
        None,
        [chat, said, sources, attention, asked, taught],
    )
    page.on(tab.select, page.runs, run, run)


def add_controls():
    """Adds the controls for the way of answering, by the names of the command's options; returns them."""
    with gradio.Accordion(_("Ways of answering"), open=False):
        by = gradio.Radio(
            [(_("as trained"), ""), *((way, way) for way in WAYS)], value="", label="--answer-by",
            info=_("generate answers, retrieve that of the nearest known question, or decide by similarity"),
        )  # fmt: skip
        strategy = gradio.Radio(
            [(_("greedy"), GREEDY), (BEAM, BEAM), (SAMPLE, SAMPLE)], value=GREEDY, label=_("Decoding"),
            info=_("for generated answers: the likeliest words, beam search, or drawing at random"),
        )  # fmt: skip
        with gradio.Row():
            beams = gradio.Slider(1, MOST, 4, step=1, label="--beam", min_width=140)
            temperature = gradio.Slider(0.1, 2, 1, step=0.1, label="--temperature", min_width=140)
            n_best = gradio.Slider(1, MOST, 1, step=1, label="--n-best", min_width=140)
    return [by, strategy, beams, temperature, n_best]


def options_of(by, strategy, beams, temperature, n_best):
    """Returns the controls as options of the command `chat`."""
    options = argparse.Namespace(
        answer_by=by or None, sample=strategy == SAMPLE, beam=int(beams) if strategy == BEAM else None,
        n_best=int(n_best) if n_best > 1 else None,
        **dict.fromkeys((*OF_BEAMS, *OF_SAMPLES, *OF_WORDS, *SETTINGS)),
    )  # fmt: skip
    if options.sample:
        options.temperature = float(temperature)
    check_strategy_options(options)
    return options


def answers(page, question, said, run, *controls):
    """Yields the conversation, its `Turn`s, the next question, the sources, the attention, and what was asked."""
    question = question.strip()
    if not question:
        raise InputError(_("Type a question first."))
    options = options_of(*controls)
    generation, bot = generation_config(options), page.studio.bot(run)
    way = bot.way(options.answer_by, None, generation)
    asked = with_previous_turns(bot, history_of(said), question)
    yield conversation([*said, Turn(question)]), said, "", status(_("Answering …")), "", asked
    answer, cited = None, ""
    guide = None if generation and generation.num_return > 1 else guidance(bot, asked, question, way)
    if guide and guide.reply:
        turn = Turn(question, guide.reply, guide.reply, suggested=guide.questions)
    elif guide:
        near = _("I am not sure. Did you mean one of these? If not, teach me the answer.")
        unsure = near if guide.matches else _("I do not know that. You can ask me, for example:")
        turn = Turn(question, unsure, suggested=guide.questions)
        cited = matches_table(guide.matches) if guide.matches else ""
    elif unknown := unknown_characters(bot, asked, question, way):
        turn = Turn(question, _("I do not know any of these characters: {characters}", characters=" ".join(unknown)))
    elif generation and generation.num_return > 1:
        [candidates] = bot.candidates([asked], generation)
        answer = candidates[0]
        listing = (f"{number}. {one.text}  ({one.score:.2f})" for number, one in enumerate(candidates, 1))
        turn = Turn(question, "\n".join(listing), answer.text)
    else:
        stream, reply = bot.stream(asked, answer_by=options.answer_by, generation=generation), ""
        while answer is None:
            try:
                reply += next(stream)
            except StopIteration as end:
                answer = end.value
            turn = Turn(question, reply, reply)
            yield conversation([*said, turn]), said, "", gradio.skip(), "", asked
    said = [*said, turn]
    yield conversation(said), said, "", sources_of(answer) if answer else cited, "", asked


def history_of(said):
    """Returns the questions that the bot has answered, each followed by its answer."""
    return [text for turn in said if turn.answer for text in (turn.question, turn.answer)]


def conversation(said):
    """Returns `Turn`s as markup, in which the texts are escaped."""
    if not said:
        return paragraph(_("Choose a bot and ask it something. No bot yet? Train one."))
    label = html.escape(_("Conversation"))
    lines = "".join(map(turn_markup, said))
    return f'<div class="conversation" role="log" aria-label="{label}" tabindex="0"><div>{lines}</div></div>'


def turn_markup(turn):
    """Returns a `Turn` as markup, with a button for each suggested question."""
    question = f'<p class="question">{html.escape(turn.question)}</p>'
    if turn.shown is None:
        return question
    suggested = "".join(f'<button type="button">{html.escape(one)}</button>' for one in turn.suggested)
    return f'{question}<p class="answer">{html.escape(turn.shown) or "…"}{suggested}</p>'


def sources_of(answer):
    """Returns the sources of an answer as markup."""
    if not answer.sources:
        return paragraph(_("Generated by the model; no similar question is known."))
    how = _("Generated by the model. The nearest known questions:") if answer.composed else _("Retrieved from:")
    return paragraph(how) + matches_table(answer.sources)


def matches_table(matches):
    """Returns `Match`es as markup: similarity, file, row, and the known exchange."""
    rows = [
        (f"{one.similarity:.2f}", one.exchange.file or "", one.exchange.row or "", one.exchange.question,
         one.exchange.answer)
        for one in matches
    ]  # fmt: skip
    return table((_("similarity"), _("file"), _("row"), _("question"), _("answer")), rows)


def attention_of(page, asked, run, show_attention, *controls):
    """Yields the page of attention weights in a frame, which can do nothing but show them."""
    if not (show_attention and asked):
        yield ""
        return
    yield status(_("Reading the attention …"))
    options, bot = options_of(*controls), page.studio.bot(run)
    generation = generation_config(options)
    trace = trace_attention(bot, asked, generation)
    note = ""
    if is_known(bot, asked, bot.way(options.answer_by, None, generation)):
        generated = trace.answers[0][0]
        note = paragraph(_("This reply is not generated. The model itself would answer: {answer}", answer=generated))
    frame = html.escape(str(attention_html(trace, page.language)))
    title = html.escape(_("Attention weights"))
    yield f'{note}<iframe sandbox="allow-scripts" title="{title}" srcdoc="{frame}"></iframe>'


def teach_answer(page, run, asked, right):
    """Teaches the right answer to the last question; returns what was done, and an empty field."""
    if not asked:
        raise InputError(_("Ask a question first."))
    bot = page.studio.bot(run)
    if bot.datastore is None:
        raise InputError(_("This bot cannot be taught yet: finish its training."))
    bot.datastore.teach(asked, right)
    return status(_("Taught: {question} → {answer}", question=asked, answer=right.strip())), ""
