"""Runs models in tests, with the code and the limits of the engine."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from .frame import Frame, Picture
from .inference import Infer
from .process.connection import get_values
from .process.engine_infer import EngineInfer

# The environment variable with the command of the program that runs models, as JSON. `eyrie plugin
# test` sets it.
_COMMAND_VARIABLE = 'EYRIE_MODEL_HOST'
# Maximum for one frame. The engine ends an element that asks for more. All of these requests also
# fit into a pipe.
_MAX_REQUESTS = 200


def has_real_models() -> bool:
    """Whether this test can run models: it runs under `eyrie plugin test`."""
    return _COMMAND_VARIABLE in os.environ


class RealModels:
    """The models that the manifest of the plugin declares."""

    def __init__(self) -> None:
        """Loads the models. Raises `OSError` with the reason if one cannot be loaded."""
        self._host = _start_host()
        self._host.request('open')
        self._infer = EngineInfer(self._host)

    @property
    def infer(self) -> Infer:
        return self._infer

    @contextmanager
    def during(self, frame: Frame) -> Iterator[None]:
        """Provides the models with the picture of a frame while the block runs."""
        self._infer.frame_number = frame.n
        self._host.begin(frame)
        try:
            yield
        finally:
            self._host.request('end', n=frame.n)


@cache
def _start_host() -> ModelHost:
    """
    Starts the program that runs models. It serves all elements of a process, which run one after
    the other.
    """
    if not has_real_models():
        raise RuntimeError(
            'real models run under "eyrie plugin test" only: run the tests with it, or skip this one unless has_real_models()'
        )
    host = ModelHost(json.loads(os.environ[_COMMAND_VARIABLE]))
    atexit.register(host.close)
    return host


class ModelHost:
    """The program that runs models. Requests and replies are lines of JSON."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._last_id = 0
        self._requests = 0

    def begin(self, frame: Frame) -> None:
        picture = frame.picture_or_none
        self._requests = 0
        self.request('begin', n=frame.n, picture=picture and _encode_picture(picture))

    def request(self, kind: str, **fields: Any) -> Any:
        [value] = self.finish_calls([self._send(kind, fields)])
        return value

    def start_call(self, content: dict[str, Any]) -> int:
        self._requests += 1
        if self._requests > _MAX_REQUESTS:
            raise OSError(f'it asks for more than {_MAX_REQUESTS} inferences for a frame')
        kind, fields = content['method'], {
            name: value for name, value in content.items() if name != 'method'
        }
        return self._send(kind, fields)

    def _send(self, kind: str, fields: dict[str, Any]) -> int:
        assert self._process.stdin
        self._last_id += 1
        self._process.stdin.write(json.dumps({'id': self._last_id, 'type': kind, **fields}) + '\n')
        self._process.stdin.flush()
        return self._last_id

    def finish_calls(self, ids: Sequence[int]) -> list[Any]:
        assert self._process.stdout
        replies: dict[int, dict[str, Any]] = {}
        while len(replies) < len(ids):
            line = self._process.stdout.readline()
            if not line:
                raise OSError('the program that runs models has ended')
            reply = json.loads(line)
            replies[reply['id']] = reply
        return get_values(replies, ids)

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _encode_picture(picture: Picture) -> dict[str, Any]:
    return {
        'width': picture.width,
        'height': picture.height,
        'format': picture.format,
        'data': b64encode(picture.pixels.tobytes()).decode(),
    }
