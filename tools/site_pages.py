"""Pages of the site that code writes at each build, so that they cannot be out of date.

A hook of MkDocs (`mkdocs.yml` names it): the Python reference comes from the docstrings of the public names, the index
of the decisions from their titles, the pages of the notebooks from their cells. The examples in docstrings are run by
the tests.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kanopy

DOCS = Path(__file__).resolve().parents[1] / "docs"
ROOMS = ("hierarchy", "ontology", "privacy")
"""Public rooms below `kanopy`; what each names in `__all__` is public."""

WIDE = 88
"""A longer signature is written one argument per line."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages before MkDocs looks at links and navigation."""
    from mkdocs.structure.files import File

    pages = {"reference/api.md": api_page(), "decisions/index.md": decisions_page()}
    for path in sorted((DOCS / "tutorial").glob("*.ipynb")):
        about = f"[This notebook]({path.name}) is executed by the tests of Kanopy. Download it to run it.\n\n"
        pages[f"tutorial/{path.stem}-notebook.md"] = notebook_page(json.loads(path.read_text("utf-8")), about)
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def notebook_page(notebook: dict[str, Any], about: str) -> str:
    """A notebook as a page: its cells, and what they show."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                html = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
                parts.append(f'<div class="output">\n{html}\n</div>')
            else:
                text = "".join(output.get("text") or data.get("text/plain", ""))
                parts.append(f"```text\n{text.rstrip()}\n```")
    title, *rest = parts
    return "\n\n".join([title, about.strip(), *rest]) + "\n"


def decisions_page() -> str:
    """All decisions with a link each."""
    lines = [
        "# Decisions",
        "",
        "Short notes on decisions that somebody may want to reverse: what was decided, why, and what did not work.",
        "",
    ]
    for path in sorted((DOCS / "decisions").glob("0*.md")):
        title = re.sub(r"^#\s*(\d+[: ]+)?", "", path.read_text(encoding="utf-8").splitlines()[0])
        lines.append(f"- {path.name[:4]}: [{title}]({path.name})")
    return "\n".join(lines) + "\n"


def api_page() -> str:
    """The reference of every public name."""
    parts = [
        "# Python API\n",
        "The names on this page are public. All other names may change without notice. "
        "This page is generated from the docstrings.\n",
    ]
    parts += _names("kanopy", kanopy)
    for room in ROOMS:
        module = __import__(f"kanopy.{room}", fromlist=["__all__"])
        if getattr(module, "__all__", ()):
            parts += [f"## kanopy.{room}\n", markdown(module), *_names(f"kanopy.{room}", module)]
    return "\n".join(parts)


def public_names(module: types.ModuleType) -> list[str]:
    """What a module names in `__all__`, by alphabet, without the rooms, which have a chapter each."""
    return sorted((name for name in module.__all__ if name not in ROOMS), key=str.lower)


def _names(prefix: str, module: types.ModuleType) -> Iterator[str]:
    depth = "##" if prefix == "kanopy" else "###"
    for name in public_names(module):
        thing = getattr(module, name)
        yield f"{depth} {prefix}.{name}\n"
        if isinstance(thing, types.ModuleType):
            yield markdown(thing)
            for inner, function in _functions(thing):
                yield from _entry(f"{prefix}.{name}.{inner}", function, depth + "#")
            continue
        if isinstance(thing, dict):
            yield f"A dictionary of names: {', '.join(f'`{key}`' for key in thing)}.\n"
            continue
        shown = signature(name, thing)
        yield shown
        yield markdown(thing)
        if dataclasses.is_dataclass(thing) and not shown:
            fields = [(one.name, annotation(one.type)[0]) for one in dataclasses.fields(thing)]
            yield "\n".join(f"- `{field}: {kind}`" for field, kind in fields if field[0] != "_")
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            yield from _members(thing)


def _functions(module: types.ModuleType) -> list[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    found = [(name, getattr(module, name)) for name in names]
    return [(name, thing) for name, thing in found if inspect.isfunction(thing) and thing.__module__ == module.__name__]


def _entry(name: str, thing: Any, depth: str) -> Iterator[str]:
    yield f"{depth} {name}\n"
    yield signature(name.rpartition(".")[2], thing)
    yield markdown(thing)


def _members(kind: type) -> Iterator[str]:
    """Methods and properties that the class itself documents, as a list."""
    lines = []
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        what = inner.fget if isinstance(inner, property) else getattr(inner, "func", inner)
        if not inspect.isfunction(what) or not what.__doc__:
            continue
        first = " ".join(inspect.getdoc(what).split("\n\n")[0].split())  # type: ignore[union-attr]
        called = name if isinstance(inner, property) or what is not inner else f"{name}{_arguments(what)}"
        lines.append(f"- `{called}`: {first}")
    if lines:
        yield "\n".join(lines) + "\n"


def _arguments(function: Any) -> str:
    given = [str(one) for one in inspect.signature(function).parameters if one not in ("self", "cls")]
    return f"({', '.join(given)})"


def signature(name: str, thing: Any) -> str:
    """How it is called, as a block of code; nothing for what has no signature or is only ever an answer."""
    if inspect.isclass(thing) and f"{name}(" not in (inspect.getdoc(thing) or ""):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    arguments: list[tuple[str, str]] = []
    bare = False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not bare:
            arguments.append(("*", ""))
            bare = True
        bare = bare or one.kind is one.VAR_POSITIONAL
        kind, words = annotation(one.annotation)
        arguments.append((_plain(str(one.replace(annotation=one.empty)), kind), words))
    returned = "" if inspect.isclass(thing) else f" -> {annotation(found.return_annotation)[0] or 'Any'}"
    line = f"{name}({', '.join(text for text, _ in arguments)}){returned}"
    if len(line) > WIDE or any(words for _, words in arguments):
        listed = "".join(f"    {text},{'  # ' + words if words else ''}\n" for text, words in arguments)
        line = f"{name}(\n{listed}){returned}"
    return f"```text\n{line}\n```\n"


def annotation(given: Any) -> tuple[str, str]:
    """A type as one writes it, and the words that a declared parameter has beside it."""
    if given is inspect.Parameter.empty:
        return "", ""
    text = given if isinstance(given, str) else inspect.formatannotation(given)
    tree = ast.parse(text.strip("'\""), mode="eval").body
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value) == "Annotated" and isinstance(tree.slice, ast.Tuple):
        kind, *notes = tree.slice.elts
        words = [note.value for note in notes if isinstance(note, ast.Constant) and isinstance(note.value, str)]
        return ast.unparse(kind), words[-1] if words else ""
    return ast.unparse(tree).replace("collections.abc.", ""), ""


def _plain(bare: str, kind: str) -> str:
    """An argument with its type, and defaults without addresses."""
    name, _, default = bare.partition("=")
    default = default.replace("<factory>", "…")
    return f"{name}: {kind} = {default}" if default and kind else bare if not kind else f"{name}: {kind}"


def markdown(thing: Any) -> str:
    """A docstring as Markdown: examples become blocks of code."""
    text = inspect.getdoc(thing) or ""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            inside = True
            out += ["", "```pycon"]
        elif inside and not line.strip():
            inside = False
            out.append("```")
        out.append(line)
    if inside:
        out.append("```")
    return "\n".join(out) + "\n"
