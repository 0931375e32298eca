"""YAML as nodes with line numbers. Nothing in a file names a class or a function, and no alias is followed."""

import re

import yaml

from keras_transformer.data.text_files import read_lines
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

KEY = re.compile(r"""(["']?)([\w-]+)\1[ \t]*:""")  # At the start of a line: at the top level.


class _Alias(yaml.MarkedYAMLError):
    pass


class _Loader(yaml.SafeLoader):
    """Composes nodes without aliases, by which a short file could stand for one that fills memory."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            raise _Alias(problem_mark=self.peek_event().start_mark)
        return super().compose_node(parent, index)


def read_yaml(path, encoding=None):
    """Returns the root node of a YAML file; None if the file is empty.

    Raises:
        InputError: If the file cannot be read or is not YAML, with the line.
    """
    text = "".join(read_lines(path, encoding))
    try:
        return _Loader(text).get_single_node()
    except yaml.reader.ReaderError as error:
        line, problem = text.count("\n", 0, error.position) + 1, error.reason
    except _Alias as error:
        line = error.problem_mark.line + 1
        raise InputError(
            _("{path}: line {line}: an alias is not read: write out what it stands for", path=path, line=line)
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, problem = mark.line + 1, error.problem
    except RecursionError:
        line, problem = 1, _("nested too deep")
    raise InputError(_("{path}: line {line}: not YAML: {problem}", path=path, line=line, problem=problem))


def top_level_keys(path, encoding=None):
    """Returns the set of the keys at the top level of a YAML file, without reading all of it as YAML."""
    return {match[2] for line in read_lines(path, encoding) if (match := KEY.match(line))}


def fields_of(node):
    """Returns the fields of a node, a dictionary from keys to nodes; it is empty if there are none."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def items_of(node):
    """Returns the items of a node, a list of nodes; it is empty if there are none."""
    return node.value if isinstance(node, yaml.SequenceNode) else []


def scalar_of(node):
    """Returns the text of a node as it is written, also of a number; None if it is no text."""
    return node.value if isinstance(node, yaml.ScalarNode) else None


def line_of(node):
    """Returns the line in which a node starts."""
    return node.start_mark.line + 1
