"""Sphinx configuration. `make docs` builds docs/en and docs/ko, each into a site of its own with its own search."""

import pathlib
import sys

from keras_transformer import __version__
from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly

sys.path.insert(0, str(pathlib.Path(__file__).parent / "extensions"))
import_tensorflow_quietly()

project = "keras_transformer"
release = __version__
project_copyright = "the authors of keras_transformer"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_reference",
    "config_reference",
    "formulas",
    "korean_search",
    "public_names",
    "repository_pages",
]

# The notebooks are executed by the tests, and rendered here as they are.
nb_execution_mode = "off"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
myst_ref_domains = ["std", "py"]

# Docstrings are Markdown in this respect: one backtick is code.
default_role = "code"
add_module_names = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"

# Types of other libraries have no page to link to: a build asks no other machine for one.
nitpick_ignore_regex = [("py:.*", ".*")]
# A block without a language is a command with its output.
highlight_language = "none"

# The words of the theme in Korean, from the sources of a language.
locale_dirs = ["../locales"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "keras_transformer"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": ["view"]}
