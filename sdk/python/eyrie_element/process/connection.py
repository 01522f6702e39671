"""The connection of the process of an element with the engine."""

from __future__ import annotations

import json
import socket
import struct
import threading
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ..context import Response

# Length of the body, and kind of the message.
_HEADER = struct.Struct('<IB')
# The kinds of messages to the engine.
_ANSWER, _LOG, _CALL, _INFER = 1, 2, 3, 4


class EngineEndedError(Exception):
    """The engine has closed the connection."""


class Connection:
    """
    Messages through a socket: the length of the body in bytes (4 bytes, little-endian), the kind (1
    byte), and the body as JSON.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._input = self._socket.makefile('rb')
        self._pending: deque[dict[str, Any]] = deque()
        self._sending = threading.Lock()
        self._last_call = 0

    def receive(self) -> dict[str, Any]:
        """Waits for the next message. Raises `EngineEndedError` if the engine has ended."""
        return self._pending.popleft() if self._pending else self._read()

    def _read(self) -> dict[str, Any]:
        header = self._input.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise EngineEndedError
        length, _ = _HEADER.unpack(header)
        message: dict[str, Any] = json.loads(self._input.read(length))
        return message

    def send(self, message: dict[str, Any]) -> None:
        """Raises `ValueError` if the message contains numbers that JSON cannot express."""
        body = json.dumps(message, allow_nan=False, separators=(',', ':')).encode()
        header = _HEADER.pack(len(body), _find_kind(message))
        try:
            with self._sending:
                self._socket.sendall(header + body)
        except ConnectionError as error:
            raise EngineEndedError from error

    def call(self, content: dict[str, Any]) -> Any:
        """
        Asks the engine to do what the process must not do itself, and waits for the value. Raises
        `OSError` if it fails.
        """
        [value] = self.finish_calls([self.start_call(content)])
        return value

    def start_call(self, content: dict[str, Any]) -> int:
        """Sends a call, and returns its id for `finish_calls`."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError('infer, fetch and storage work in the main thread only')
        self._last_call += 1
        self.send({'type': 'call', 'id': self._last_call, 'call': content})
        return self._last_call

    def finish_calls(self, ids: Sequence[int]) -> list[Any]:
        """
        Waits for all of these calls, and returns their values. Raises `OSError` with the reason of
        the first one that has failed.
        """
        replies: dict[int, dict[str, Any]] = {}
        while len(replies) < len(ids):
            message = self._read()
            if message['type'] != 'reply':
                self._pending.append(message)
            elif message['id'] in ids:
                replies[message['id']] = message
        return get_values(replies, ids)


def get_values(replies: Mapping[int, Mapping[str, Any]], ids: Sequence[int]) -> list[Any]:
    """
    Returns the values of replies in the order of ids. Raises `OSError` with the reason of the first
    one that has failed.
    """
    for id in ids:
        if 'error' in replies[id]:
            raise OSError(replies[id]['error'])
    return [replies[id].get('value') for id in ids]


def _find_kind(message: dict[str, Any]) -> int:
    if message['type'] == 'call':
        return _INFER if message['call']['method'] == 'infer' else _CALL
    return _LOG if message['type'] == 'log' else _ANSWER


class EngineStorage:
    """Stores files through the engine."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call

    def read(self, name: str) -> bytes | None:
        content = self._call({'method': 'read', 'name': name})
        return None if content is None else b64decode(content)

    def write(self, name: str, content: bytes | str) -> None:
        self._call({'method': 'write', 'name': name, 'content': _encode(content)})

    def delete(self, name: str) -> None:
        self._call({'method': 'delete', 'name': name})

    def names(self) -> list[str]:
        names: list[str] = self._call({'method': 'list'})
        return names


class EngineFetch:
    """Sends requests through the engine."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call

    def __call__(
        self,
        url: str,
        *,
        method: str = 'GET',
        headers: Mapping[str, str] = {},
        body: bytes | str | None = None,
    ) -> Response:
        request = {'method': method, 'headers': dict(headers)}
        encoded = {} if body is None else {'body': _encode(body)}
        value = self._call({'method': 'fetch', 'url': url, 'request': request | encoded})
        return Response(value['status'], value['headers'], b64decode(value['body']))


def _encode(content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    return b64encode(data).decode()
