"""Checks that the elements of an uploaded plugin can be loaded, without opening them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from ..element import ElementDefinition
from ..plugin_module import add_package_paths, describe_error, load_elements

MESSAGE_SOCKET = 3
MAX_PROBLEM_LENGTH = 2000


def inspect(machine_paths: list[str]) -> None:
    """
    Receives `{"entry", "elements", "needsPixels"}` as a line of JSON, answers with `{"problem"}`, or `{}` if all is well, and
    waits to be ended.
    """
    requests = os.fdopen(MESSAGE_SOCKET, 'rb')
    problem = _find_problem(json.loads(requests.readline()), machine_paths)
    answer = {} if problem is None else {'problem': problem[:MAX_PROBLEM_LENGTH]}
    os.write(MESSAGE_SOCKET, json.dumps(answer).encode() + b'\n')
    requests.read()


def _find_problem(request: dict[str, Any], machine_paths: list[str]) -> str | None:
    entry = Path(request['entry'])
    add_package_paths(entry.parent)
    sys.path.extend(machine_paths)
    try:
        if request['needsPixels']:
            import numpy  # noqa: F401
        elements = load_elements(entry)
    except Exception as error:
        return describe_error(error, entry.parent)
    for name in request['elements']:
        if not isinstance(elements.get(name), ElementDefinition):
            return f'the variable elements of {entry.name} has no ElementDefinition "{name}"'
    return None
