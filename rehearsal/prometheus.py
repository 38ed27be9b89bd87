"""Prometheus with the overlay's own targets and rules; times are shortened so that alerts fire while one looks."""

import asyncio
import json
import os
import re
import shutil
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.manifests import CannotRehearse, Object
from rehearsal.pods import Pod
from rehearsal.processes import ended, spawned

VARIABLE = "CROUPIER_REHEARSAL_PROMETHEUS"
NAMESPACE = "croupier"
LEAST_SECONDS = 1.0
"""Nothing is asked, or computed, more often."""
READY_SECONDS = 60.0
ANSWER_SECONDS = 10.0
END_SECONDS = 10.0
POLL_SECONDS = 0.2
_UNITS: Mapping[str, float] = {"ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = r"(\d+)(ms|s|m|h|d)\b"
_IN_EXPRESSIONS = re.compile(rf"(\[|\boffset ){_DURATION}")


@dataclass(frozen=True, slots=True)
class Firing:
    """An alert that fired; times are seconds since 1970 UTC, `until` None while it still does."""

    alert: str
    of: str
    since: float
    until: float | None


def find_prometheus() -> Path | None:
    """The program; None where there is none. Raises CannotRehearse for one that is named and is not there."""
    if named := os.environ.get(VARIABLE):
        if not os.access(named, os.X_OK):
            raise CannotRehearse(f"{VARIABLE} names {named}, which cannot be run")
        return Path(named)
    installed = shutil.which("prometheus")
    return Path(installed) if installed else None


def shortened(duration: str, factor: float) -> str:
    """A duration of Prometheus, so many times shorter, but no less than a second."""
    found = re.fullmatch(_DURATION, duration)
    if found is None:
        raise CannotRehearse(f"{duration!r} is no duration that can be shortened")
    seconds = int(found[1]) * _UNITS[found[2]]
    return f"{round(1000 * max(seconds / factor, min(seconds, LEAST_SECONDS)))}ms"


def shortened_expression(expression: str, factor: float) -> str:
    """An expression with all that it looks back at shortened; recorded names and thresholds stay as they are."""
    return _IN_EXPRESSIONS.sub(lambda found: found[1] + shortened(found[2] + found[3], factor), expression)


def rule_file(rules: Iterable[Object], factor: float) -> Mapping[str, Any]:
    """The groups of rules as Prometheus reads them from a file, shortened."""
    groups = [group for one in rules for group in one["spec"]["groups"]]
    return {
        "groups": [{**group, "rules": [_shortened_rule(rule, factor) for rule in group["rules"]]} for group in groups]
    }


def _shortened_rule(rule: Object, factor: float) -> Object:
    waits = {"for": shortened(rule["for"], factor)} if "for" in rule else {}
    return {**rule, "expr": shortened_expression(rule["expr"], factor), **waits}


def scrape_configurations(monitors: Iterable[Object], folder: Path, factor: float) -> Sequence[Mapping[str, Any]]:
    """What the operator makes of PodMonitors, with files in the folder that say where the pods are."""
    return [
        {
            "job_name": f"{one['metadata']['name']}/{number}",
            "scrape_interval": shortened(endpoint["interval"], factor),
            "scrape_timeout": f"{LEAST_SECONDS:g}s",
            "metrics_path": endpoint.get("path", "/metrics"),
            "file_sd_configs": [{"files": [str(folder / target_file(one, number))]}],
            "relabel_configs": [_snake_case(rule) for rule in endpoint.get("relabelings", ())],
        }
        for one in monitors
        for number, endpoint in enumerate(one["spec"]["podMetricsEndpoints"])
    ]


def target_file(monitor: Object, number: int) -> str:
    """The name of the file with the targets of one endpoint of a PodMonitor."""
    return f"{monitor['metadata']['name']}-{number}.json"


def _snake_case(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    return {re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name): value for name, value in rule.items()}


def targets(monitor: Object, number: int, pods: Iterable[Pod]) -> list[Mapping[str, Any]]:
    """The pods that a PodMonitor selects, with the labels that the operator gives them."""
    port = monitor["spec"]["podMetricsEndpoints"][number]["port"]
    return [
        {"targets": [f"{pod.site.address}:{pod.plan.ports[port]}"], "labels": _labels(pod, port)}
        for pod in pods
        if port in pod.plan.ports and _selects(monitor["spec"]["selector"], pod.plan.labels)
    ]


def _labels(pod: Pod, port: str) -> Mapping[str, str]:
    meta = {
        f"__meta_kubernetes_pod_label_{re.sub('[^a-zA-Z0-9]', '_', name)}": value
        for name, value in pod.plan.labels.items()
    }
    return {**meta, "namespace": NAMESPACE, "pod": pod.name, "endpoint": port}


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items()) and all(
        labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", ())
    )


def firings(series: Iterable[Mapping[str, Any]], step_seconds: float, end: float) -> list[Firing]:
    """Alerts by what they fired of, read from the values of ALERTS; one that fires at the end has no `until`."""
    found = []
    for one in series:
        labels = one["metric"]
        of = labels.get("pod") or labels.get("job") or labels.get("envoy_cluster_name") or labels.get("method", "")
        begins: float | None = None
        last = 0.0
        for at, _ in one["values"]:
            if begins is not None and at - last > 1.5 * step_seconds:
                found.append(Firing(labels["alertname"], of, begins, last))
                begins = None
            begins, last = (at if begins is None else begins), at
        if begins is not None:
            is_over = end - last > 1.5 * step_seconds
            found.append(Firing(labels["alertname"], of, begins, last if is_over else None))
    return sorted(found, key=lambda one: one.since)


class Prometheus:
    """Prometheus while it runs, in a folder of its own."""

    def __init__(self, program: Path, folder: Path, address: str, monitors: Sequence[Object], factor: float) -> None:
        self._program, self._folder, self._address = program, folder, address
        self._monitors, self._factor = monitors, factor
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, rules: Iterable[Object], pods: Sequence[Pod]) -> None:
        """Start it and wait until it has asked all pods; raises CannotRehearse with its log if it does not."""
        self._folder.mkdir(parents=True)
        (self._folder / "rules.json").write_text(json.dumps(rule_file(rules, self._factor)))
        configuration = {
            "global": {"evaluation_interval": f"{LEAST_SECONDS:g}s"},
            "rule_files": [str(self._folder / "rules.json")],
            "scrape_configs": scrape_configurations(self._monitors, self._folder, self._factor),
        }
        (self._folder / "prometheus.json").write_text(json.dumps(configuration))
        self.tell(pods)
        flags = [f"--config.file={self._folder / 'prometheus.json'}", f"--storage.tsdb.path={self._folder / 'data'}"]
        command = [str(self._program), *flags, f"--web.listen-address={self._address}", "--log.level=warn"]
        log = self._folder / "prometheus.log"
        self._process = await spawned(command, dict(os.environ), log, self._folder)
        try:
            async with asyncio.timeout(READY_SECONDS):
                while not await self._has_all(len(pods)):  # noqa: ASYNC110 - another process has no event
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise CannotRehearse(f"Prometheus did not find all pods: {log.read_text()[-500:]}") from None

    async def _has_all(self, pods: int) -> bool:
        try:
            answer = await asyncio.to_thread(self._get, "/api/v1/query?query=sum(up)")
        except OSError:
            return False
        return any(int(one["value"][1]) >= pods for one in json.loads(answer)["data"]["result"])

    @property
    def is_running(self) -> bool:
        """Whether there is somebody to tell."""
        return self._process is not None

    def tell(self, pods: Sequence[Pod]) -> None:
        """Say which pods there are."""
        for one in self._monitors:
            for number, _ in enumerate(one["spec"]["podMetricsEndpoints"]):
                file = self._folder / target_file(one, number)
                partial = file.with_suffix(".partial")
                partial.write_text(json.dumps(targets(one, number, pods)))
                partial.replace(file)

    async def firings(self, since: float, until: float) -> list[Firing]:
        """All alerts that fired in this time."""
        asked = {"query": 'ALERTS{alertstate="firing"}', "start": since, "end": until, "step": LEAST_SECONDS}
        answer = await asyncio.to_thread(self._get, f"/api/v1/query_range?{urllib.parse.urlencode(asked)}")
        return firings(json.loads(answer)["data"]["result"], LEAST_SECONDS, until)

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://{self._address}{path}", timeout=ANSWER_SECONDS) as answer:
            content: bytes = answer.read()
            return content

    async def stop(self) -> None:
        """End it."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            if not await ended(self._process, END_SECONDS):
                self._process.kill()
                await self._process.wait()
