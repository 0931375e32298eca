"""Fonts that hold every character of a picture, Hangul first of all: never a box in its place."""

import functools
import importlib.util
import pathlib

from matplotlib import font_manager

from keras_transformer.errors import InputError

LATIN = "DejaVu Sans"  # Which comes with matplotlib.
KOREAN = (
    "Pretendard", "Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic", "NanumGothic",
    "NanumBarunGothic", "AppleGothic", "UnDotum", "Baekmuk Dotum",
)  # fmt: skip
"""Those that read best in a picture, where they are installed."""

PACKAGE = "koreanize_matplotlib"  # Carries NanumGothic to machines that have no Korean font.
SPACES = " \t\n\u200b\u200c\u200d\ufeff"


def fonts_for(texts):
    """The font families that a picture of some texts needs.

    Args:
        texts: What will be written, an iterable of strings.

    Returns:
        A list for matplotlib's "font.family", which looks for each character in one after the other.

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
            f"no installed font can draw {signs}: install one that can, such as fonts-noto-cjk (Debian, Ubuntu) or "
            "`pip install koreanize-matplotlib` for Hangul, or write an HTML file, which browsers draw"
        )
    return families


@functools.cache
def candidates():
    """Names of all fonts, the Korean ones that read best first."""
    add_packaged_font()
    installed = {font.name for font in font_manager.fontManager.ttflist} - {LATIN}
    preferred = [name for name in KOREAN if name in installed]
    return [*preferred, *sorted(installed - set(preferred))]


def add_packaged_font():
    """Makes the font of the package known to matplotlib, if the package is there; it need not be imported for that."""
    package = importlib.util.find_spec(PACKAGE)
    if package:
        font_manager.fontManager.addfont(pathlib.Path(package.origin).parent / "fonts" / "NanumGothic.ttf")


@functools.cache
def font_file(name):
    """The file of a font's regular face."""
    return font_manager.findfont(font_manager.FontProperties(family=[name]))


@functools.cache
def characters(path):
    """All characters that a font file holds."""
    return frozenset(map(chr, font_manager.get_font(path).get_charmap()))
