"""The directive `public-names`: the docstrings of names that `keras_transformer` exports, by autodoc."""

import inspect
import re

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import keras_transformer

CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)(?=(\w?))")


class PublicNames(SphinxDirective):
    """Documents the names in its content, separated by spaces."""

    has_content = True

    def run(self):
        names = " ".join(self.content).split()
        lines = ["```{eval-rst}", *(line for name in names for line in autodoc_lines(name)), "```"]
        container = nodes.container()
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), 0, container)
        return container.children


def autodoc_lines(name):
    """Returns the autodoc directive, in reStructuredText, for a public name."""
    value = getattr(keras_transformer, name)
    if not callable(value):  # Its docstring stands in its own module.
        return [f".. autodata:: keras_transformer.{keras_transformer._HOMES[name]}.{name}", "   :no-value:", ""]
    if not inspect.isclass(value):
        return [f".. autofunction:: keras_transformer.{name}", ""]
    if issubclass(value, Exception):
        return [f".. autoexception:: keras_transformer.{name}", ""]
    return [f".. autoclass:: keras_transformer.{name}", "   :members:", ""]


def mark_code(app, what, name, value, options, lines):
    """Marks code in a docstring as reStructuredText does, which wants a break between it and a letter (`Run`s)."""
    lines[:] = [CODE.sub(lambda code: f"``{code[1]}``" + ("\\ " if code[2] else ""), line) for line in lines]


def setup(app):
    """Registers the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-docstring", mark_code)
    return {"parallel_read_safe": True}
