"""`constraints.txt` pins every package that an install brings, and this environment has those versions."""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PINS = dict(
    re.fullmatch(r"([A-Za-z0-9_.-]+)==(\S+)", line).groups()
    for line in (Path(__file__).parents[1] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


def normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def installed(name: str, extra: str = "", found: dict | None = None) -> dict[str, str]:
    """The versions of everything that ``name`` requires on this machine, its own included."""
    found = {} if found is None else found
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            key = normal(requirement.name)
            if key not in found:
                try:
                    found[key] = distribution(key).version.split("+")[0]
                except PackageNotFoundError:
                    continue  # an optional part that is not installed
                installed(key, found=found)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bring packages of their own")
def test_every_installed_package_is_pinned_to_its_version():
    pins = {normal(name): version for name, version in PINS.items()}
    brought = {name: version for name, version in installed("why-is-my-gpu-slower", "test").items() if not re.match("nvidia|cuda|triton", name)}
    assert {"torch", "mkdocs-material", "pytest", "sybil", "hypothesis"} <= brought.keys()
    assert brought == {name: pins.get(name) for name in brought}
