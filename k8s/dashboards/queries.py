"""The forms that questions to Prometheus take; what they are about stands in the dashboards."""

WINDOW = "[$__rate_interval]"


def of(services: str, metric: str, **labels: str) -> str:
    """The series of a metric of services; they and labels are matched as regular expressions."""
    matchers = "".join(f', {name}=~"{value}"' for name, value in labels.items())
    return f'{metric}{{namespace="$namespace", job=~"croupier-({services})"{matchers}}}'


def rate(series: str, *by: str) -> str:
    """How often a counter counts in a second, added up over all labels but those named."""
    return f"sum{_by(by)} (rate({series}{WINDOW}))"


def total(series: str, *by: str) -> str:
    """A gauge, added up over all labels but those named."""
    return f"sum{_by(by)} ({series})"


def quantile(share: float, buckets: str, *by: str) -> str:
    """The time within which this share of what a histogram counted was done."""
    return f"histogram_quantile({share}, sum{_by(('le', *by))} (rate({buckets}{WINDOW})))"


def ratio(part: str, whole: str) -> str:
    """A share, 0 where there was nothing."""
    return f"({part}) / ({whole} > 0) or vector(0)"


def _by(labels: tuple[str, ...]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""
