"""The forms that questions to Prometheus take; what they are about stands in the dashboards."""

from k8s.dashboards.board import Query, Unit

WINDOW = "[$__rate_interval]"


def of(services: str, metric: str, **labels: str) -> str:
    """The series of a metric of services; they and labels are matched as regular expressions."""
    matchers = "".join(f', {name}=~"{value}"' for name, value in labels.items())
    return f'{metric}{{namespace="$namespace", job=~"croupier-({services})"{matchers}}}'


def total(series: str, *by: str) -> Query:
    """A gauge, added up over all labels but those named, which name the lines."""
    return Query(f"sum{_by(by)} ({series})", _legend(by))


def rate(series: str, *by: str) -> Query:
    """How often a counter counts in a second, added up over all labels but those named."""
    return Query(f"sum{_by(by)} (rate({series}{WINDOW}))", _legend(by), Unit.PER_SECOND)


def extreme(which: str, series: str, *by: str) -> Query:
    """The highest (max) or lowest (min) of a gauge for each of these labels."""
    return Query(f"{which}{_by(by)} ({series})", _legend(by))


def quantile(share: float, buckets: str, *by: str) -> Query:
    """The time within which this share of what a histogram counted was done."""
    rates = rate(buckets, "le", *by).expression
    return Query(f"histogram_quantile({share}, {rates})", _legend(by), Unit.SECONDS)


def ratio(part: Query, whole: Query) -> Query:
    """A share, 0 where there was nothing."""
    return Query(f"({part.expression}) / ({whole.expression} > 0) or vector(0)", unit=Unit.SHARE)


def _by(labels: tuple[str, ...]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""


def _legend(labels: tuple[str, ...]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels)
