"""Serves the page, in each language at an address of its own."""

import contextlib
import json
import os
import pathlib

import fastapi
import gradio
import uvicorn
from starlette.responses import RedirectResponse, Response

from keras_transformer.language import LANGUAGES, language_of_context
from keras_transformer.language import translate as _
from keras_transformer.studio.access import Door, language_of
from keras_transformer.studio.compare import add_compare
from keras_transformer.studio.give_away import add_give_away
from keras_transformer.studio.page import Page
from keras_transformer.studio.talk import add_talk
from keras_transformer.studio.train import add_train

UPLOAD = 200_000_000  # Maximum bytes of an uploaded file.
SECONDS_TO_LEAVE = 2  # For which open pages are waited for at the end.
STYLE = pathlib.Path(__file__).with_name("studio.css")
NAMES = {"en": "English", "ko": "한국어"}


def run_studio(studio, listener, key, origins, on_ready):
    """Serves until SIGTERM or Ctrl-C, then stops the trainings, whose state is saved.

    Args:
        studio: The `Studio`.
        listener: A listening socket.
        key: The key that visitors must have; None for no key.
        origins: The `OriginCheck`.
        on_ready: Function that is called when the page can be opened.
    """
    app = Door(make_app(studio, on_ready), key, origins)
    config = uvicorn.Config(
        app, ws="none", log_config=None, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_LEAVE,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run([listener])
    finally:
        studio.end()


def make_app(studio, on_ready=lambda: None):
    """Returns the application: the page in each language, and at `/` the way to the browser's language."""
    os.environ["GRADIO_TEMP_DIR"] = str(studio.workspace.scratch)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        on_ready()
        yield

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)

    @app.get("/")
    def choose_language(request: fastapi.Request) -> RedirectResponse:
        return RedirectResponse(f"/{language_of(request)}/")

    @app.get("/favicon.ico")
    def no_icon():
        return Response(status_code=204)

    for language in LANGUAGES:
        mount(app, studio, language)
    return app


def mount(app, studio, language):
    """Adds the page in a language to the application."""
    with language_of_context(language):
        blocks = make_page(Page(studio, language))
    gradio.mount_gradio_app(
        app, blocks, f"/{language}", footer_links=[], run_history=False, ssr_mode=False, max_file_size=UPLOAD,
        theme=theme(), css=STYLE.read_text("utf-8"), head=head(language), show_error=False,
    )  # fmt: skip


def make_page(page):
    """Returns the page with its tabs."""
    others = "".join(f'<a href="/{one}/" lang="{one}">{NAMES[one]}</a>' for one in LANGUAGES if one != page.language)
    title = _("keras-transformer studio")
    with gradio.Blocks(title=title, analytics_enabled=False) as blocks:
        gradio.HTML(f"<header><h1>{title}</h1><nav>{others}</nav></header>")
        bots = [page.choice(_("Bot"), elem_id=name, render=False) for name in ("talk-run", "give-run")]
        with gradio.Tabs(selected="talk" if page.workspace.trained() else "train"):
            add_talk(page, bots[0])
            watched, watch = add_train(page, bots)
            add_compare(page)
            add_give_away(page, bots[1])
        page.on(blocks.load, watched, None, watch)
        for bot in bots:
            page.on(blocks.load, page.runs, bot, bot)
    blocks.unload(leave(page.studio))
    blocks.queue(default_concurrency_limit=8)
    return blocks


def leave(studio):
    """Returns a handler that cancels the commands of a visitor who leaves; trainings go on."""

    def cancel(request: gradio.Request) -> None:
        studio.commands.cancel_all(request.session_hash)

    return cancel


def theme():
    """Returns the theme: fonts of the system, and colors with enough contrast."""
    return gradio.themes.Default(
        primary_hue="blue", secondary_hue="blue", neutral_hue="slate",
        font=["system-ui", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        button_primary_background_fill="*primary_700", button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700", button_primary_background_fill_hover_dark="*primary_800",
        block_label_text_color="*neutral_700", block_label_text_color_dark="*neutral_200",
        block_info_text_color="*neutral_700", block_info_text_color_dark="*neutral_200",
        block_title_text_color="*neutral_700", block_title_text_color_dark="*neutral_200",
        body_text_color_subdued="*neutral_700", body_text_color_subdued_dark="*neutral_200",
    )  # fmt: skip


def head(language):
    """Returns the script by which Gradio's own texts come in the page's language, not the browser's."""
    name = json.dumps(language)
    return (
        f"<script>for (const name of ['language', 'languages']) Object.defineProperty(navigator, name, "
        f"{{get: () => name === 'language' ? {name} : [{name}]}}); document.documentElement.lang = {name};</script>"
    )
