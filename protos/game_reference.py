"""Writes docs/game-reference.md from the signatures and docstrings of the public modules for games.

Members of enums whose numbers are those of the contract have the comments of the contract.
"""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

GAMES, JUDGE = "croupier.games", "croupier_loadtest.judge.rules.interface"
MODULES = {
    **{
        f"{GAMES}.{name}": f"services/croupier/games/{name}.py"
        for name in (
            "interface",
            "actions",
            "choices",
            "facts",
            "values",
            "words",
            "cards",
            "hands",
            "folded",
            "hidden",
            "bots",
            "standings",
            "sampling",
        )
    },
    JUDGE: "loadtest/croupier_loadtest/judge/rules/interface.py",
}
"""The paths of the modules, in the order of the page."""
HEAD = """# Reference of games

<!-- Written by protos/generate.py from docstrings and the contract. -->

All that a game may import, by module: names, arguments and their meaning. [The interface of
games](game-interface.md) says how they work together, [adding a game](adding-a-game.md) shows them
at work.
"""
COLUMNS, MAX_VALUE_CHARACTERS = 100, 60


def page(root: Path, comments: Mapping[str, str]) -> str:
    """Return the page from the modules below a root, and the comments of the contract by name."""
    sections = [HEAD]
    for name, path in MODULES.items():
        module = ast.parse((root / path).read_text())
        sections.append(f"## `{name}`\n\n{_wrapped(_text(module))}\n\n" + "\n".join(_entries(module, comments)) + "\n")
    return "\n".join(sections)


def _entries(module: ast.Module, comments: Mapping[str, str]) -> Iterator[str]:
    """Yield the list items of the public names of a module."""
    for node, docstring in _documented(module):
        if isinstance(node, ast.ClassDef):
            yield _item(_class_text(node), _text(node))
            yield from (_item(code, text, "  ") for code, text in _members(node, comments))
        elif isinstance(node, ast.FunctionDef):
            yield _item(_call_text(node), _text(node))
        elif "TypeVar(" not in (code := _value_text(node)):
            yield _item(code, docstring)


def _documented(body: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the statements that define public names, each with the docstring that follows an assignment."""
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case ast.Assign(targets=[ast.Attribute(attr=name)]) | ast.AnnAssign(target=ast.Attribute(attr=name)):
                pass
            case _:
                continue
        if not name.startswith("_"):
            match after:
                case ast.Expr(value=ast.Constant(value=str(docstring))):
                    yield node, docstring
                case _:
                    yield node, ""


def _class_text(node: ast.ClassDef) -> str:
    """Return a class with the fields of its instances."""
    bases = {ast.unparse(base) for base in node.bases}
    is_record = "NamedTuple" in bases or any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    fields = [(_value_text(one), text) for one, text in _documented(node) if isinstance(one, ast.AnnAssign)]
    init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if init is not None:
        return f"{node.name}{_arguments_text(init)}"
    if not is_record or all(text for _, text in fields):
        return node.name  # Its members are listed, each with its text.
    return f"{node.name}({', '.join(field for field, _ in fields)})"


def _members(node: ast.ClassDef, comments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the documented attributes, also those of instances, methods and enum members of a class."""
    is_enum = any("Enum" in ast.unparse(base) for base in node.bases)
    for member, docstring in _documented(node):
        if isinstance(member, ast.FunctionDef):
            is_property = any(ast.unparse(each) == "property" for each in member.decorator_list)
            yield (member.name if is_property else _call_text(member)), _text(member)
        elif is_enum:
            name = ast.unparse(member).partition(" ")[0]
            yield name, docstring or comments[f"{node.name}.{_enum_prefix(node.name)}_{name}"]
        elif docstring:
            yield _value_text(member), docstring
    for init in node.body:
        if isinstance(init, ast.FunctionDef) and init.name == "__init__":
            yield from ((_value_text(one).removeprefix("self."), text) for one, text in _documented(init) if text)


def _enum_prefix(name: str) -> str:
    """Return the prefix of the values of an enum of the contract: WORD_KIND for WordKind."""
    return "".join(f"_{each}" if each.isupper() and at else each for at, each in enumerate(name)).upper()


def _value_text(node: ast.stmt) -> str:
    """Return an assignment, without a value that is too long to read."""
    code = ast.unparse(node)
    if ": TypeAlias = " in code:
        return code.replace(": TypeAlias", "")
    target, _, value = code.partition(" = ")
    return target if len(value) > MAX_VALUE_CHARACTERS else code


def _call_text(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}{_arguments_text(node)}{returns}"


def _arguments_text(node: ast.FunctionDef) -> str:
    """Return the arguments of a function or a method without self, in parentheses."""
    arguments = ast.unparse(node.args).replace(", /", "")
    return f"({arguments.removeprefix('self').removeprefix(', ')})"


def _text(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return ast.get_docstring(node) or ""


def _item(code: str, text: str, indent: str = "") -> str:
    """Return a list item; paragraphs become sentences of it."""
    return _wrapped(f"`{code}`{': ' if text else ''}{text}", f"{indent}- ", f"{indent}  ")


def _wrapped(text: str, first: str = "", other: str = "") -> str:
    wrapper = textwrap.TextWrapper(COLUMNS, first, other, break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(" ".join(text.split()))
