"""A small cluster, read from the manifest beside this file."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from rehearsal.manifests import Object
from rehearsal.plan import Deployment, Plan, plan_of


def objects() -> Sequence[Object]:
    """All objects of the manifest; whoever asks may change them."""
    return list(yaml.safe_load_all((Path(__file__).parent / "manifest.yaml").read_text()))


def plan() -> Plan:
    """What they describe."""
    return plan_of(objects())


def engine() -> Deployment:
    """Its one deployment."""
    (found,) = plan().deployments
    return found
