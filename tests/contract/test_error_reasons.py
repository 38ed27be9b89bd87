"""Services raise every reason of ErrorReason, with the code and the retry of its comment."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from croupier.gateway.refusals import REFUSALS
from croupier.runtime.admission.budget import TooManyCalls
from croupier.runtime.errors import KINDS, REASON_PREFIX, LimitReached, ServiceError
from croupier_api.v1.errors_pb2 import ErrorReason
from error_page import Reason

ROOT = Path(__file__).parents[2]
SERVICES = ROOT / "services/croupier"
ERROR_PAGE = ROOT / "docs/errors.md"
ERRORS: Mapping[str, type[ServiceError]] = {kind.__name__: kind for kind in (*KINDS, TooManyCalls)}


class Raised(NamedTuple):
    """A place in the code that makes an error, with its class and reason, and whether it has RetryInfo.

    A reason of the enum is its name without prefix; any other is an expression.
    """

    place: str
    kind: type[ServiceError]
    reason: str
    has_retry: bool


@pytest.fixture(scope="module")
def raised() -> tuple[Raised, ...]:
    """Return every place in the services that makes an error."""
    return tuple(each for path in sorted(SERVICES.rglob("*.py")) for each in _raised(path))


def _raised(path: Path) -> Iterator[Raised]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            reason = ast.unparse(node.args[0]).removeprefix("errors_pb2.").removeprefix(REASON_PREFIX)
            has_retry = any(keyword.arg == "retry_after_seconds" for keyword in node.keywords)
            yield Raised(f"{path.relative_to(ROOT)}:{node.lineno}", ERRORS[node.func.id], reason, has_retry)


@pytest.fixture(scope="module")
def described() -> Mapping[str, Reason]:
    """Return the reasons with their comments, which are the lines of the generated page."""
    lines = re.findall(r"^\| `(.+)` \| (.+) \| (.+) \| (.+) \| (.+) \|$", ERROR_PAGE.read_text(), re.MULTILINE)
    return {reason.name: reason for reason in (Reason(*line) for line in lines)}


def test_every_comment_begins_with_a_code_of_grpc(described: Mapping[str, Reason]) -> None:
    assert {f"{REASON_PREFIX}{name}" for name in described} == {*ErrorReason.keys()} - {f"{REASON_PREFIX}UNSPECIFIED"}
    assert {reason.code for reason in described.values()} <= {code.name for code in grpc.StatusCode}


def test_every_reason_is_of_the_enum(raised: Sequence[Raised]) -> None:
    assert [each for each in raised if each.reason.startswith(("'", '"', "f'", 'f"'))] == []


def test_every_reason_comes_with_the_code_of_its_comment(
    raised: Sequence[Raised], described: Mapping[str, Reason]
) -> None:
    named = [each for each in raised if each.reason in described]
    assert named
    assert [each for each in named if each.kind.code.name != described[each.reason].code] == []


def test_limits_and_reasons_whose_comment_names_it_have_retry_info(
    raised: Sequence[Raised], described: Mapping[str, Reason]
) -> None:
    named = [each for each in raised if each.reason in described]
    due = [each for each in named if each.kind.code is LimitReached.code or "RetryInfo" in described[each.reason].retry]
    assert [each for each in due if not each.has_retry] == []


def test_refusals_of_the_gateway_agree_with_the_comments(described: Mapping[str, Reason]) -> None:
    codes = {code.value[0]: code.name for code in grpc.StatusCode}
    for refusal in REFUSALS:
        comment = described[ErrorReason.Name(refusal.reason).removeprefix(REASON_PREFIX)]
        assert codes[refusal.code] == comment.code, refusal
        assert bool(refusal.retry_seconds) == ("RetryInfo" in comment.remedy + comment.retry), refusal


def test_every_reason_is_used_and_no_other(described: Mapping[str, Reason]) -> None:
    texts = (
        path.read_text(errors="replace") for path in SERVICES.rglob("*") if path.is_file() and path.suffix != ".pyc"
    )
    assert {name for text in texts for name in re.findall(rf"\b{REASON_PREFIX}(\w+)", text)} == described.keys()
