"""Forms of PromQL queries."""

from k8s.dashboards.board import Query, Unit

WINDOW = "[$__rate_interval]"


def of(services: str, metric: str, **labels: str) -> str:
    """Return a selector of a metric; services and labels are regular expressions."""
    matchers = "".join(f', {name}=~"{value}"' for name, value in labels.items())
    return f'{metric}{{namespace="$namespace", job=~"croupier-({services})"{matchers}}}'


def total(series: str, *by: str) -> Query:
    """Return the sum of a gauge by these labels, which are the legend."""
    return Query(f"sum{_by(by)} ({series})", _legend(by))


def rate(series: str, *by: str) -> Query:
    """Return the rate of a counter a second, summed by these labels."""
    return Query(f"sum{_by(by)} (rate({series}{WINDOW}))", _legend(by), Unit.PER_SECOND)


def extreme(which: str, series: str, *by: str) -> Query:
    """Return the maximum (max) or minimum (min) of a gauge by these labels."""
    return Query(f"{which}{_by(by)} ({series})", _legend(by))


def quantile(share: float, buckets: str, *by: str) -> Query:
    """Return a quantile of a histogram of seconds by these labels."""
    rates = rate(buckets, "le", *by).expression
    return Query(f"histogram_quantile({share}, {rates})", _legend(by), Unit.SECONDS)


def ratio(part: Query, whole: Query) -> Query:
    """Return a ratio, 0 if the whole is 0."""
    return Query(f"({part.expression}) / ({whole.expression} > 0) or vector(0)", unit=Unit.SHARE)


def _by(labels: tuple[str, ...]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""


def _legend(labels: tuple[str, ...]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels)
