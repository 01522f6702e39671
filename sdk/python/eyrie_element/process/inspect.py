"""
Checks that the elements of an uploaded plugin can be loaded, without opening them, and has them
migrate arguments.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..element import ElementDefinition
from ..plugin_module import add_package_paths, describe_error, load_elements
from ..schema import to_json

MESSAGE_SOCKET = 3
MAX_PROBLEM_LENGTH = 2000


def inspect(machine_paths: list[str]) -> None:
    """
    Receives `{"entry", "elements", "needsArrays", "migrations"}` as a line of JSON, answers with
    `{"problem"}`, or `{"migrated"}` if all is well, and waits to be ended.
    """
    engine = socket.socket(fileno=MESSAGE_SOCKET)
    requests = engine.makefile('rb')
    answer = _answer(json.loads(requests.readline()), machine_paths)
    engine.sendall(answer.encode() + b'\n')
    requests.read()


def _answer(request: dict[str, Any], machine_paths: list[str]) -> str:
    entry = Path(request['entry'])
    add_package_paths(entry.parent)
    sys.path.extend(machine_paths)
    try:
        if request['needsArrays']:
            import numpy  # noqa: F401
        elements = load_elements(entry)
        for name in request['elements']:
            if not isinstance(elements.get(name), ElementDefinition):
                return _format_problem(
                    f'the variable elements of {entry.name} has no ElementDefinition "{name}"'
                )
        migrated = [_migrate(elements, migration) for migration in request['migrations']]
        return json.dumps({'migrated': migrated}, allow_nan=False)
    except Exception as error:
        return _format_problem(describe_error(error, entry.parent))


def _format_problem(problem: str) -> str:
    return json.dumps({'problem': problem[:MAX_PROBLEM_LENGTH]})


def _migrate(elements: Mapping[str, ElementDefinition[Any, Any]], migration: dict[str, Any]) -> Any:
    """
    Returns the arguments as this version accepts them; None if the element does not migrate any.
    """
    migrate = elements[migration['element']].migrate
    if migrate is None:
        return None
    migrated = migrate(migration['args'], migration['from'])
    if not isinstance(migrated, Mapping):
        raise TypeError(
            f'migrate of {migration["element"]} should return a dict, not {type(migrated).__name__}'
        )
    return to_json(migrated)
