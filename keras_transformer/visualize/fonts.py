"""Selects fonts with all characters of a figure, Hangul in particular, to avoid missing glyphs."""

import functools
import importlib.util
import pathlib

from matplotlib import font_manager

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

LATIN = "DejaVu Sans"  # Included in matplotlib.
KOREAN = (
    "Pretendard", "Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic", "NanumGothic",
    "NanumBarunGothic", "AppleGothic", "UnDotum", "Baekmuk Dotum",
)  # fmt: skip
"""The preferred Korean fonts."""

PACKAGE = "koreanize_matplotlib"  # Contains NanumGothic, for machines without a Korean font.
SPACES = " \t\n\u200b\u200c\u200d\ufeff"


def fonts_for(texts):
    """Returns the font families that a figure with some texts needs.

    Args:
        texts: The texts, an iterable of strings.

    Returns:
        A list for matplotlib's "font.family", in the order of lookup.

    Raises:
        InputError: If no installed font has one of the characters.
    """
    families = [LATIN]
    missing = set().union(*texts) - set(SPACES) - characters(font_file(LATIN))
    for name in candidates() if missing else ():
        if missing & characters(font_file(name)):
            families.append(name)
            missing -= characters(font_file(name))
        if not missing:
            break
    if missing:
        signs = " ".join(f"{sign} (U+{ord(sign):04X})" for sign in sorted(missing)[:5])
        raise InputError(
            _(
                "no installed font has the characters {signs}: install one, such as fonts-noto-cjk (Debian, Ubuntu) or "
                "`pip install koreanize-matplotlib` for Hangul, or write an HTML file instead",
                signs=signs,
            )
        )
    return families


@functools.cache
def candidates():
    """Returns the names of all fonts, the preferred Korean ones first."""
    add_packaged_font()
    installed = {font.name for font in font_manager.fontManager.ttflist} - {LATIN}
    preferred = [name for name in KOREAN if name in installed]
    return [*preferred, *sorted(installed - set(preferred))]


def add_packaged_font():
    """Registers the font of `PACKAGE` in matplotlib, if the package is installed, without importing it."""
    package = importlib.util.find_spec(PACKAGE)
    if package:
        font_manager.fontManager.addfont(pathlib.Path(package.origin).parent / "fonts" / "NanumGothic.ttf")


@functools.cache
def font_file(name):
    """Returns the path of a font's regular face."""
    return font_manager.findfont(font_manager.FontProperties(family=[name]))


@functools.cache
def characters(path):
    """Returns the set of characters of a font file."""
    return frozenset(map(chr, font_manager.get_font(path).get_charmap()))
