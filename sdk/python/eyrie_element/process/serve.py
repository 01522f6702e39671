"""Runs an element: loads and opens it, then processes one frame at a time."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..context import Context, Log, Metrics
from ..element import Element, ElementDefinition
from ..frame import Size
from ..kept_state import restore_state, save_state
from ..plugin_module import add_package_paths, describe_error, find_definition
from ..result_json import to_frame, to_message
from ..schema import from_json, to_json
from .connection import Connection, EngineEndedError, EngineFetch, EngineStorage
from .engine_infer import EngineInfer
from .ring import RingReceiver

MESSAGE_SOCKET = 3
DESCRIPTOR_SOCKET = 4


def serve(machine_paths: list[str]) -> None:
    """Serves the engine until it closes the element or ends."""
    connection = Connection(MESSAGE_SOCKET)
    process = ElementProcess(connection, RingReceiver(DESCRIPTOR_SOCKET), machine_paths)
    # What the element prints belongs to its log, line by line.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    logging.basicConfig(handlers=[_LogHandler(process.log)], level=logging.INFO)
    threading.excepthook = lambda failure: process.crash(failure.exc_value)
    try:
        while process.handle(connection.receive()):
            pass
    except EngineEndedError:
        pass


class ElementProcess:
    """Answers the messages of the engine."""

    def __init__(
        self, connection: Connection, rings: RingReceiver, machine_paths: list[str]
    ) -> None:
        self._connection = connection
        self._infer = EngineInfer(connection)
        self._rings = rings
        self._machine_paths = machine_paths
        self._folder: Path | None = None
        self._setup: dict[str, Any] = {}
        self._definition: ElementDefinition[Any, Any] | None = None
        self._context: Context[Any, Any] | None = None
        self._element: Element | None = None
        self.log = Log(self._write_log)

    def handle(self, message: dict[str, Any]) -> bool:
        """Answers a message. Returns whether the element continues to run."""
        if message['type'] == 'close':
            if self._element:
                self._element.close()
            return False
        try:
            answer = self._answer(message)
            self._connection.send(answer)
        except EngineEndedError:
            raise
        except Exception as error:
            self._connection.send(
                {'type': 'failed', 'message': describe_error(error, self._folder)}
            )
        return True

    def crash(self, error: BaseException | None) -> None:
        """Reports an exception that nothing has caught, for example in a thread of the element."""
        if error:
            self._connection.send(
                {'type': 'crashed', 'message': describe_error(error, self._folder)}
            )

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message['type'] == 'load':
            return self._load(message)
        if message['type'] == 'open':
            return self._open()
        if message['type'] in ('save', 'restore'):
            return self._transfer_state(message)
        return self._process(message['frame'], message.get('ring'))

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        entry = Path(message['entry'])
        self._folder = entry.parent
        self._setup = message['setup']
        add_package_paths(entry.parent)
        sys.path.extend(self._machine_paths)
        self._definition = find_definition(entry, message['name'])
        return {'type': 'loaded'}

    def _open(self) -> dict[str, Any]:
        setup, definition = self._setup, self._definition
        assert definition
        config = setup.get('config')
        size = setup.get('size')
        self._context = Context(
            args=from_json(definition.args, setup['args']),
            config=from_json(definition.config, config)
            if definition.config and config is not None
            else None,
            source_id=setup['source']['id'],
            size=Size(**size) if size else None,
            log=self.log,
            storage=EngineStorage(self._connection),
            fetch=EngineFetch(self._connection),
            infer=self._infer,
        )
        element = self._element = definition.create(self._context)
        opened = {
            'view': element.view and _omit_none(to_json(element.view)),
            'size': element.size and to_json(element.size),
            'metadata': element.metadata and to_json(element.metadata),
        }
        return {'type': 'opened', **_omit_none(opened)}

    def _transfer_state(self, message: dict[str, Any]) -> dict[str, Any]:
        """Passes the state of the element to the engine, or takes over that of earlier code."""
        assert self._element and self._context
        clock = self._context.clock
        if message['type'] == 'save':
            return {'type': 'saved', **save_state(self._element, clock)}
        return {'type': 'restored', **restore_state(self._element, clock, message['state'])}

    def _process(self, frame: dict[str, Any], location: dict[str, Any] | None) -> dict[str, Any]:
        cpu_before = time.process_time()
        ring = self._rings.find(location) if location else None
        picture = ring.find_picture(frame['n']) if ring else None
        if location and picture is None:
            return {'type': 'overwritten'}

        context, element = self._context, self._element
        assert context and element
        context.clock._advance(frame['pts'], frame['time'], frame['discontinuity'])
        self._infer.frame_number = frame['n']
        if frame['discontinuity']:
            element.reset()
        result = to_message(element.process(to_frame(frame, picture)))
        if ring and not ring.holds(frame['n']):
            return {'type': 'overwritten'}
        cpu_ms = (time.process_time() - cpu_before) * 1000
        return {
            'type': 'processed',
            'result': result,
            'cpuMs': cpu_ms,
            **_collect_metrics(context.metrics),
        }

    def _write_log(self, level: str, message: str, fields: Mapping[str, object]) -> None:
        loggable = {name: self._to_loggable(value) for name, value in fields.items()}
        self._connection.send(
            {'type': 'log', 'level': level, 'fields': loggable, 'message': message}
        )

    def _to_loggable(self, value: object) -> Any:
        """
        Returns a field as JSON. What JSON cannot express becomes text: a log entry must not end the
        element.
        """
        if isinstance(value, BaseException):
            return describe_error(value, self._folder)
        try:
            converted = to_json(value)
            json.dumps(converted, allow_nan=False)
            return converted
        except (TypeError, ValueError):
            return str(value)


def _collect_metrics(metrics: Metrics) -> dict[str, Any]:
    """Returns all metrics if one of them has changed."""
    if not metrics.has_changed:
        return {}
    metrics.has_changed = False
    return {'metrics': {'values': metrics.values, 'totals': metrics.totals}}


def _omit_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


class _LogHandler(logging.Handler):
    """Passes on the entries of Python's module `logging`, which libraries use."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        write = {'DEBUG': self._log.debug, 'INFO': self._log.info, 'WARNING': self._log.warning}
        error = record.exc_info[1] if record.exc_info else None
        fields: dict[str, object] = {'logger': record.name, **({'error': error} if error else {})}
        try:
            write.get(record.levelname, self._log.error)(record.getMessage(), **fields)
        except Exception:
            # As the handlers of Python do: the code that logs must not fail.
            self.handleError(record)
