"""The directives `config-settings` and `config-presets`: the settings of `Config` and its presets, from the code."""

import json

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from keras_transformer.config import FIELDS
from keras_transformer.language import translate, use_language
from keras_transformer.presets import PRESETS, count_parameters

ONE_OF = {"en": "One of", "ko": "가능한 값"}
HEAD = {"en": ("setting", "parameters"), "ko": ("설정", "파라미터 수")}


class ConfigSettings(SphinxDirective):
    """All settings with their defaults, meanings and allowed values."""

    def run(self):
        use_language(self.config.language)
        entries = nodes.definition_list(classes=["arguments"])
        for name, field in FIELDS.items():
            term = nodes.term("", "", nodes.literal(text=f"{name} = {literal(field.default)}"), ids=[name])
            about = nodes.paragraph(text=translate(field.metadata["about"]))
            if choices := field.metadata["choices"]:
                about += nodes.Text(f" {ONE_OF[self.config.language]}: {', '.join(choices)}.")
            entries += nodes.definition_list_item("", term, nodes.definition("", about))
        return [entries]


class ConfigPresets(SphinxDirective):
    """A table of the settings in which presets differ, one column for each preset."""

    def run(self):
        setting, parameters = HEAD[self.config.language]
        differing = [name for name in FIELDS if len({getattr(config, name) for config in PRESETS.values()}) > 1]
        rows = [
            [setting, *(f"`{name}`" for name in PRESETS)],
            ["---"] * (len(PRESETS) + 1),
            [parameters, *(f"{count_parameters(config) / 1e6:.1f} M" for config in PRESETS.values())],
            *([f"`{name}`", *(literal(getattr(config, name)) for config in PRESETS.values())] for name in differing),
        ]
        container = nodes.container()
        text = StringList([f"| {' | '.join(cells)} |" for cells in rows], self.get_source_info()[0])
        self.state.nested_parse(text, 0, container)
        return container.children


def literal(value):
    """Returns a value as TOML writes it, a text in quotes."""
    return json.dumps(value)


def setup(app):
    """Registers the directives."""
    app.add_directive("config-settings", ConfigSettings)
    app.add_directive("config-presets", ConfigPresets)
    return {"parallel_read_safe": True}
