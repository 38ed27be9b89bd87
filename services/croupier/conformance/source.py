"""What the code of a game names: actions, facts and ids of rules. Whatever it names, a walk should reach."""

import ast
import importlib.util
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import NamedTuple, get_args

from croupier.games.actions import Action
from croupier.games.facts import Fact
from croupier.games.interface import Game

_ACTIONS = frozenset(kind.__name__ for kind in get_args(Action))
_FACTS = frozenset(kind.__name__ for kind in get_args(Fact))


class Named(NamedTuple):
    """The actions and facts that the code of a game names, and how often it has a text, such as the id of a rule."""

    actions: frozenset[str]
    facts: frozenset[str]
    texts: Counter[str]

    def rules(self, prefix: str) -> frozenset[str]:
        """Return the ids of rules with a prefix."""
        return frozenset(text for text in self.texts if re.fullmatch(rf"{prefix}-[A-Z0-9-]+[a-z]?", text))


@lru_cache(maxsize=64)
def named_by(game: type[Game]) -> Named:
    """Return what the module of a game names, with the modules of its package that it imports."""
    nodes = [node for tree in _trees(game.__module__) for node in ast.walk(tree)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = Counter(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return Named(_ACTIONS & names, _FACTS & names, texts)


def _trees(start: str) -> Iterator[ast.AST]:
    """Yield the syntax trees of a module and of what it imports from its own package."""
    package = sys.modules[start].__package__ or ""
    waiting, seen = [start], {start}
    while waiting:
        module = sys.modules[waiting.pop()]
        tree = ast.parse(inspect.getsource(module))
        yield tree
        for name in _imported(tree, module):
            if package and name.startswith(f"{package}.") and name in sys.modules and name not in seen:
                seen.add(name)
                waiting.append(name)


def _imported(tree: ast.AST, module: ModuleType) -> Iterator[str]:
    """Yield the names of modules that a module may import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = f"{'.' * node.level}{node.module or ''}"
            source = importlib.util.resolve_name(relative, module.__package__)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
