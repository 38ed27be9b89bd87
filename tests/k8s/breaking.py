"""Ways to break manifests, one for each thing that a policy looks at."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal.manifests import Object
from tests.k8s.objects import named

GONE = object()
"""Instead of a value: what is there is taken away."""

POD = "spec/template/spec"
MAIN = f"{POD}/containers/0"
FIRST = f"{POD}/initContainers/0"


@dataclass(frozen=True, slots=True)
class Break:
    """Another value at a place of one object; a name that ends with - is the beginning of one."""

    kind: str
    name: str
    path: str
    value: Any = GONE

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.path}"

    def of(self, objects: Sequence[Object]) -> list[Object]:
        """The objects, broken; those given stay as they are."""
        broken = copy.deepcopy(list(objects))
        if not self.path:
            return [one for one in broken if one is not named(broken, self.kind, self.name)]
        *way, last = self.path.split("/")
        place: Any = named(broken, self.kind, self.name)
        for step in way:
            place = place[_key(place, step)]
        key = _key(place, last)
        if self.value is GONE:
            del place[key]
        else:
            place[key] = self.value
        return broken


def _key(place: Any, step: str) -> Any:
    """A step into a list is its index, or the name of one in it."""
    if not isinstance(place, list):
        return step
    if step.isdecimal():
        return int(step)
    (found,) = (index for index, one in enumerate(place) if one.get("name") == step)
    return found


Policy = Callable[[Sequence[Object]], Any]
