"""Ask the system's own programs, all at the same time; one that hangs is given up on, and not asked again."""

import os
import subprocess
import time

PATIENCE = 5.0
"""Seconds for all the programs of one call together."""

_silent: set[str] = set()
"""Programs that did not answer in time."""


def outputs(*commands: list[str], **environment: str) -> list[str]:
    """What each command prints, whatever it ends with; nothing for one that is missing, fails to start, or hangs."""
    until = time.monotonic() + PATIENCE
    running = []
    for command in commands:
        try:
            running.append(command[0] not in _silent and _start(command, environment))
        except OSError:
            running.append(None)
    return [_output(process, command[0], until) if process else "" for process, command in zip(running, commands)]


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen:
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | environment, encoding="utf-8", errors="replace"
    )


def _output(process: subprocess.Popen, name: str, until: float) -> str:
    try:
        return process.communicate(timeout=max(until - time.monotonic(), 0.01))[0]
    except subprocess.TimeoutExpired:
        process.kill()
        _silent.add(name)
        return ""  # it is not waited for: a program that hangs in the driver does not end
    except (OSError, ValueError):
        return ""
