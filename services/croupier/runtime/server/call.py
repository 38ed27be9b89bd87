"""A running call, as servicers get it in place of gRPC's context."""

from dataclasses import dataclass
from typing import Any

from croupier.runtime.admission.admission import Admission
from croupier.runtime.identity.tokens import Caller


@dataclass(frozen=True, slots=True)
class Call:
    """The caller of a call, their admission, and the context of gRPC, with which streams read and write."""

    caller: Caller
    admission: Admission
    context: Any
