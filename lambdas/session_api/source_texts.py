"""Descriptions from the source: docstrings, and the text below a field or a constant.

Read from the files, so that the texts stand beside what they describe and cost a cold start nothing. Never
imported while serving.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from types import ModuleType


def docstring(documented: object) -> tuple[str, str]:
    """The summary of a docstring and the paragraphs after it, as Markdown."""
    text = inspect.getdoc(documented) if getattr(documented, "__doc__", None) else ""
    summary, _, rest = (text or "").partition("\n\n")
    return flowed(summary), flowed(rest)


def field_texts(struct: type) -> dict[str, str]:
    """The text below each field of a struct and of its bases, by the field's name in Python."""
    texts: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        module = inspect.getmodule(base)
        if module is not None and base.__module__.startswith("session_api"):
            texts |= _class_texts(module).get(base.__name__, {})
    return texts


def constant_texts(module: ModuleType) -> dict[str, str]:
    """The text below each annotated constant of a module, by name."""
    return dict(_texts(_parsed(module).body))


@cache
def _parsed(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _class_texts(module: ModuleType) -> dict[str, dict[str, str]]:
    return {
        node.name: dict(_texts(node.body)) for node in _parsed(module).body if isinstance(node, ast.ClassDef)
    }


def _texts(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(statements):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                yield name, flowed(inspect.cleandoc(text))


def flowed(text: str) -> str:
    """Paragraphs on one line each."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)
