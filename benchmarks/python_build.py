"""The Python that runs a benchmark. How it was built matters more for speed than its version."""

import platform
import sysconfig

OPTIONS = ("--enable-optimizations", "--with-lto")
"""Profile-guided and link-time optimisation. Debian's package has the former without the option."""


def python_build() -> str:
    """Return the version and the machine of this Python, and which options for speed it is configured with."""
    arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{version} on {platform.machine()}, {described(arguments)}"


def described(arguments: str) -> str:
    """Return which of the options for speed are among the arguments of `configure`."""
    given = {argument.strip("'").removesuffix("=full").removesuffix("=thin") for argument in arguments.split()}
    return ", ".join(f"{'with' if option in given else 'without'} {option}" for option in OPTIONS)
