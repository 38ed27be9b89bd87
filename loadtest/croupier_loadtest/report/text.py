"""A result as text for a terminal; the last line is the verdict."""

from collections.abc import Iterator, Mapping

from croupier.runtime.printed_text import escaped
from croupier_loadtest.report.figures import change, duration, known, milliseconds, number, size
from croupier_loadtest.report.result import Conditions, Latency, Result, verdict

PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "maximum")


def to_text(result: Result) -> str:
    """Return the summary: games, latencies, refusals, violations, resources, limits and conditions."""
    return "".join(f"{escaped(line).rstrip()}\n" for line in _lines(result))


def _lines(result: Result) -> Iterator[str]:
    yield (
        f"tables      {number(result.tables_opened)} opened, {number(result.tables_finished)} finished, "
        f"{number(result.tables_judged)} judged, {number(result.tables_verified)} played again from the replay"
    )
    yield f"games       {_counts(result.games) or 'none finished'}"
    yield f"actions     {number(result.actions)} acknowledged, {number(result.actions_per_second, 1)} a second"
    yield f"checked     {_counts(result.checks_made) or 'nothing'}"
    yield from _latencies(result.latencies)
    for at, step in enumerate(result.steps):
        load = f"{number(step.tables)} tables, {number(step.actions_per_second, 1)} actions a second"
        kept = "kept the limits" if step.passed else "over a limit"
        last = ": the knee" if at == result.knee else ""
        yield f"{'' if at else 'steps':<12}{load}, p99 {milliseconds(step.p99)}, {kept}{last}"
    yield from _refused_and_broken(result)
    yield from _used(result)
    for at, check in enumerate(result.checks):
        kept = "kept" if check.passed else "NOT KEPT"
        yield f"{'' if at else 'limits':<12}{kept}: {check.name} {check.measured}, limit {check.limit}"
    yield from _conditions(result.conditions)
    yield f"verdict     {verdict(result)}"


def _latencies(latencies: tuple[Latency, ...]) -> Iterator[str]:
    if not latencies:
        return
    width = max(len(latency.name) for latency in latencies)
    heads = "".join(f"{head:>9}" for head in ("p50", "p90", "p95", "p99", "p99.9", "max"))
    yield f"latency     {'':<{width}}{'count':>10}{heads}"
    for latency in latencies:
        times = "".join(f"{milliseconds(getattr(latency, name)):>9}" for name in PERCENTILES)
        yield f"            {latency.name:<{width}}{number(latency.count):>10}{times}"


def _refused_and_broken(result: Result) -> Iterator[str]:
    yield f"refused     {_counts(result.refusals) or 'nothing'}"
    if result.probes:
        yield f"attempts    {_counts(result.probes)}, which must be refused"
    if result.calls_broken:
        yield f"broken      {_counts(result.calls_broken)}: calls that the load test broke on purpose"
    yield f"failed      {number(sum(failure.count for failure in result.failures))} calls"
    yield from (f"            {one.name} {number(one.count)}, first: {one.first}" for one in result.failures)
    yield f"violations  {number(sum(broken.count for broken in result.violations))}"
    for broken in result.violations:
        kept = f" (kept in {broken.replay})" if broken.replay else ""
        place = f"at table {broken.table_id}, sequence {broken.sequence}: " if broken.table_id else ""
        yield f"            {broken.invariant} {number(broken.count)}, first: {place}{broken.detail}{kept}"
    for figure in result.compared:
        if not figure.agrees:
            counted = f"services {number(figure.services)}, clients {number(figure.clients)}"
            yield f"            {figure.name}: {counted}, {number(figure.slack)} of them unknown"


def _used(result: Result) -> Iterator[str]:
    cpu = result.server_cpu_milliseconds_per_thousand_actions
    yield f"services    {known(cpu, f'{number(cpu)} ms')} of CPU per thousand actions"
    for service in result.services:
        memory = f"memory {size(service.memory_first_bytes)}, then {size(service.memory_last_bytes)}"
        grown = change(service.memory_first_bytes, service.memory_last_bytes)
        files = f"files {service.files_first}, then {service.files_last}"
        yield f"            {service.instance}: CPU {duration(service.cpu_seconds)}, {memory} ({grown}), {files}"
    yield f"generator   {result.generator_cpu:.2f} of one core in its busiest process"
    if result.bottleneck:
        yield f"bottleneck  {result.bottleneck}"


def _conditions(conditions: Conditions) -> Iterator[str]:
    yield (
        f"conditions  {conditions.scenario} for {duration(conditions.seconds)} with seed {conditions.seed}, "
        f"by {conditions.processes} process{'' if conditions.processes == 1 else 'es'} "
        f"over {conditions.transport} against {conditions.backend}"
    )
    versions = ", ".join(f"{name} {version}" for name, version in conditions.versions.items())
    yield f"            {conditions.machine}, {conditions.cores} cores; {versions}"
    yield f"repeat      {conditions.command}"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number(count)}" for name, count in sorted(counted.items()))
