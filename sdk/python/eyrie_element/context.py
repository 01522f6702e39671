"""What a channel provides to an element."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from .frame import TICKS_PER_SECOND, Size
from .inference import Infer

Args = TypeVar('Args')
Config = TypeVar('Config')

MAX_METRICS = 32
_MICROSECONDS_PER_SECOND = 1_000_000
METRIC_NAME = re.compile(r'[a-z][a-z0-9_]{0,63}')


class Clock:
    """
    The time of the frame that is processed. Measure durations with it, and not with the clock of
    the machine: a recording may be analysed faster than it was filmed.
    """

    seconds: float = 0
    """Stream time in seconds. It never decreases."""
    time: float = 0
    """Capture time in seconds since 1970, as `datetime.fromtimestamp` takes it."""

    _offset: float = 0
    """Added to the timestamps of frames, which begin anew when the media service restarts."""

    def _advance(self, pts: int, time: int, discontinuity: bool) -> None:
        """Sets the clock to the time of the frame that is processed next."""
        stream_seconds = pts / TICKS_PER_SECOND
        if discontinuity and stream_seconds + self._offset < self.seconds:
            self._offset = self.seconds - stream_seconds
        # When a camera corrects its clock, the timestamps step back once.
        self.seconds = max(self.seconds, stream_seconds + self._offset)
        self.time = time / _MICROSECONDS_PER_SECOND

    def _save(self) -> dict[str, float]:
        """Returns what the clock of new code needs to continue the time of this one."""
        return {'seconds': self.seconds, 'offset': self._offset}

    def _restore(self, saved: Mapping[str, float]) -> None:
        self.seconds = saved['seconds']
        self._offset = saved['offset']


class Metrics:
    """
    Measurements for operators, which the engine serves to Prometheus. What viewers see belongs in
    counters.
    """

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.totals: dict[str, float] = {}
        self.has_changed = False

    def set(self, name: str, value: float) -> None:
        """Sets the present value of a metric."""
        number = self._check(name, value, self.values)
        self.has_changed = self.has_changed or self.values.get(name) != number
        self.values[name] = number

    def add(self, name: str, amount: float = 1) -> None:
        """Adds to the total of a metric. Totals never decrease."""
        number = self._check(name, amount, self.totals)
        if number < 0:
            raise ValueError(f'the total of the metric {name} would decrease')
        total = self.totals.get(name, 0) + number
        if not math.isfinite(total):
            raise ValueError(f'the total of the metric {name} is too large')
        self.has_changed = self.has_changed or number > 0
        self.totals[name] = total

    def _check(self, name: str, value: float, existing: Mapping[str, float]) -> float:
        """
        Returns the value as the engine receives it. Raises `ValueError` if the engine would not
        accept the metric.
        """
        if not METRIC_NAME.fullmatch(name):
            raise ValueError(
                f'the metric {name} should have a name of lower-case letters, digits and underscores'
            )
        try:
            number = float(value)
        except OverflowError:
            raise ValueError(f'the value of the metric {name} is too large') from None
        if not math.isfinite(number):
            raise ValueError(f'the value {value} of the metric {name} is not a number')
        if name not in existing and len(self.values) + len(self.totals) >= MAX_METRICS:
            raise ValueError(f'the element has more than {MAX_METRICS} metrics')
        return number


class Log:
    """
    The log of the channel. Variables belong in fields: `log.info('counted objects', count=3)`. What
    is printed, and what the module `logging` of Python reports, is written to the same log.
    """

    def __init__(self, write: Callable[[str, str, Mapping[str, object]], None]) -> None:
        self._write = write

    def debug(self, message: str, **fields: object) -> None:
        self._write('debug', message, fields)

    def info(self, message: str, **fields: object) -> None:
        self._write('info', message, fields)

    def warning(self, message: str, **fields: object) -> None:
        self._write('warn', message, fields)

    def error(self, message: str, **fields: object) -> None:
        self._write('error', message, fields)


class Storage(Protocol):
    """
    Files of the element on this channel, which survive restarts and other versions of the plugin.
    The manifest declares their size. Names consist of letters, digits, dots, hyphens and
    underscores.
    """

    def read(self, name: str) -> bytes | None:
        """Returns the content of a file; None if it does not exist."""

    def write(self, name: str, content: bytes | str) -> None:
        """
        Replaces a file. Raises `OSError` if all files together would exceed the declared size.
        """

    def delete(self, name: str) -> None: ...

    def names(self) -> list[str]:
        """Returns the names of all files."""


@dataclass(frozen=True)
class Response:
    """The complete response of a server."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Fetch(Protocol):
    """
    Sends a request through the engine, to a server that the manifest declares in `network`. Raises
    `OSError` with the reason if that fails. Redirects are not followed.
    """

    def __call__(
        self,
        url: str,
        *,
        method: str = 'GET',
        headers: Mapping[str, str] = ...,
        body: bytes | str | None = None,
    ) -> Response: ...


@dataclass(frozen=True)
class Context(Generic[Args, Config]):
    """Everything that an element receives when a channel opens it."""

    args: Args
    """Arguments from the pipeline, validated and completed with defaults."""
    config: Config | None
    """Configuration from the pipeline; None if it has none."""
    source_id: int
    """The source that the channel analyses."""
    size: Size | None
    """Picture size that an earlier element of the pipeline requests."""
    log: Log
    storage: Storage
    fetch: Fetch
    infer: Infer
    """Runs the models that the manifest declares in `capabilities.inference`."""
    clock: Clock = field(default_factory=Clock)
    metrics: Metrics = field(default_factory=Metrics)
