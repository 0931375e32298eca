"""Makes one site of pages that also read well as plain Markdown in the repository.

In the repository, a page links to its other language in its first lines, to the notebooks, and to files beside docs/.
In the site, the language switch is part of the layout, and the notebooks and files are pages of the site: they are
copied into the folder `repository` of each language (which git ignores), and links to them are rewritten.
"""

import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).parents[2]
COPIES = "repository"
LANGUAGES = re.compile(r"(?:\*\*English\*\* · \[한국어\]\([^)]*\)|\[English\]\([^)]*\) · \*\*한국어\*\*)(?: · )?")
LINK = re.compile(r"\[([^][]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
# Pages with links to copied pages, which are their table of contents.
PARENTS = ("tutorials/notebooks", "explanation/benchmarks")


def copied_files(language):
    """Returns the repository's files that are pages of the site, and their document names."""
    ending = ".ko.ipynb" if language == "ko" else ".ipynb"
    names = {path: path.name.removesuffix(ending) for path in (ROOT / "notebooks").glob(f"*{ending}")}
    files = {path: f"{COPIES}/notebooks/{name}" for path, name in names.items() if not name.endswith(".ko")}
    names = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    pages = [*(ROOT / "benchmarks").glob("*.md"), *(ROOT / name for name in names)]
    return files | {path: f"{COPIES}/{path.relative_to(ROOT).with_suffix('').as_posix()}" for path in pages}


def copy_pages(app):
    """Copies the repository's pages into the source folder; unchanged ones keep their time."""
    for path, docname in copied_files(app.config.language).items():
        copy = (app.srcdir / docname).with_suffix(path.suffix)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)


def adapt_page(app, docname, content):
    """Rewrites the source of a page for the site."""
    copies = copied_files(app.config.language)
    page = pathlib.Path(app.env.doc2path(docname))
    origin = next((path for path, name in copies.items() if name == docname), page)

    def adapted(link):
        text, target, fragment = link.groups()
        path = pathlib.Path(os.path.normpath(origin.parent / target))
        if path.is_dir():
            return text
        address = os.path.relpath(in_site(path, app.srcdir, copies), page.parent)
        return f"[{text}]({pathlib.Path(address).as_posix()}{fragment or ''})"

    text = LINK.sub(adapted, LANGUAGES.sub("", content[0], count=1))
    if docname == "index":
        text = SECTION.sub(lambda section: section[0] + contents(section[2], f":caption: {section[1]}"), text)
    if docname in PARENTS:
        text += contents("\n".join(link[0] for link in LINK.finditer(text) if f"{COPIES}/" in link[2]))
    content[0] = text


def in_site(path, source, copies):
    """Returns the file in the source folder of the site that stands for a file of the repository."""
    if path in (ROOT / "README.md", ROOT / "README.ko.md"):
        return source / "index.md"
    if path in copies:
        return (source / copies[path]).with_suffix(path.suffix)
    english = ROOT / "docs/en"  # Copied pages have one language; their links lead to pages in that of the site.
    return source / path.relative_to(english) if path.is_relative_to(english) else path


def contents(text, option=""):
    """Returns a hidden table of contents of the pages that a text links to."""
    targets = [link[2] for link in LINK.finditer(text)]
    pages = dict.fromkeys(target.rpartition(".")[0] for target in targets if target.endswith((".md", ".ipynb")))
    return "\n".join(["", "```{toctree}", ":hidden:", option, "", *pages, "```", "", ""]) if pages else ""


def setup(app):
    """Connects the steps."""
    app.connect("builder-inited", copy_pages)
    app.connect("source-read", adapt_page)
    return {"parallel_read_safe": True}
