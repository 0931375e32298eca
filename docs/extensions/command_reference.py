"""The directive `commands`: every command and option, from the argument parser itself.

sphinx-argparse reads help texts as reStructuredText, which turns `--json` into a dash; here they stay as written.
"""

import argparse
import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from keras_transformer.cli.console import example_of, sentence
from keras_transformer.cli.main import parser
from keras_transformer.language import use_language

DEFAULT = {"en": "Default: ", "ko": "기본값: "}


class Commands(SphinxDirective):
    """A section for each command: what it does, an example, and its arguments."""

    def run(self):
        use_language(self.config.language)
        return [self.command_section(name, command) for name, command in leaves(parser())]

    def command_section(self, name, command):
        """Returns the section of one command."""
        section = nodes.section(ids=[nodes.make_id(name)], names=[nodes.fully_normalize_name(name)])
        section += nodes.title(name, name)
        section += nodes.paragraph("", "", *marked(command.description))
        if command.epilog:
            example = example_of(command)
            section += nodes.literal_block(example, example, language="none")
        for group in command._action_groups:
            section += self.group_nodes(name, command, group)
        self.state.document.note_explicit_target(section, section)
        return section

    def group_nodes(self, name, command, group):
        """Returns the arguments of a group as a definition list, under the group's title if it has one of its own."""
        actions = [action for action in group._group_actions if not isinstance(action, argparse._HelpAction)]
        if not actions:
            return []
        entries = nodes.definition_list(classes=["arguments"])
        for action in actions:
            term = nodes.term("", "", nodes.literal(text=invocation(command, action)))
            term["ids"].append(nodes.make_id(f"{name} {action.dest}"))
            about = nodes.paragraph("", "", *marked(help_text(command, action)))
            if has_default(action):
                about += [nodes.Text(f" {DEFAULT[self.config.language]}"), nodes.literal(text=str(action.default))]
            entries += nodes.definition_list_item("", term, nodes.definition("", about))
        own_title = group not in (command._positionals, command._optionals)
        return [nodes.rubric(group.title, group.title), entries] if own_title else [entries]


def leaves(command, name=""):
    """Yields the commands that have no subcommands, with their full names."""
    subcommands = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    if not subcommands:
        yield name, command
    for action in subcommands:
        for word, subcommand in action.choices.items():
            yield from leaves(subcommand, f"{name} {word}".strip())


def invocation(command, action):
    """Returns how an argument is written, such as `--epochs N`."""
    arguments = command._get_formatter()._format_args(action, action.metavar or action.dest.upper())
    return ", ".join(f"{option} {arguments}".strip() for option in action.option_strings) or arguments


def help_text(command, action):
    """Returns the help of an argument as a sentence."""
    text = command._get_formatter()._expand_help(action) if action.help not in (None, argparse.SUPPRESS) else ""
    return sentence(text)


def has_default(action):
    """Returns true if an argument has a default that its help does not name."""
    return action.default not in (None, False, (), [], argparse.SUPPRESS) and not re.search(
        "default|기본값", action.help or ""
    )


def marked(text):
    """Yields a text as nodes, with what is between backticks as code."""
    for index, piece in enumerate(text.split("`")):
        if piece:
            yield nodes.literal(text=piece) if index % 2 else nodes.Text(piece)


def setup(app):
    """Registers the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
