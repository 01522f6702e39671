"""Runs elements without an engine, for tests with any test runner."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal

from .context import Args, Config, Context, Fetch, Log, Response, Storage
from .element import Element, ElementDefinition
from .frame import (
    TICKS_PER_SECOND,
    DetectedObject,
    Event,
    Frame,
    Picture,
    PixelFormat,
    Rectangle,
    Result,
    Size,
)
from .inference import Infer
from .process.ring import shape_pixels
from .real_models import RealModels, has_real_models
from .recorded_answers import Answers, InferRequest, RecordedAnswers
from .result_json import to_message
from .schema import from_json, to_json

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = [
    'Answers',
    'InferRequest',
    'LogEntry',
    'MemoryStorage',
    'OpenedElement',
    'RecordedAnswers',
    'Run',
    'Stream',
    'create_picture',
    'format_run',
    'has_real_models',
    'open_element',
    'read_recording',
    'run_element',
]

_MICROSECONDS_PER_SECOND = 1_000_000


@dataclass(frozen=True)
class LogEntry:
    """An entry that the element has written to its log."""

    level: str
    message: str
    fields: Mapping[str, object]


class MemoryStorage:
    """The storage of an element in memory."""

    def __init__(self, files: Mapping[str, bytes | str] = {}) -> None:
        self.files = {name: _encode(content) for name, content in files.items()}

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def write(self, name: str, content: bytes | str) -> None:
        self.files[name] = _encode(content)

    def delete(self, name: str) -> None:
        self.files.pop(name, None)

    def names(self) -> list[str]:
        return list(self.files)


def _encode(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


class _NoNetwork:
    def __call__(self, url: str, **request: Any) -> Response:
        raise OSError(f'the test provides no answer for {url}: pass fetch to open_element')


@dataclass
class OpenedElement(Generic[Args, Config]):
    """An opened element, and what it has reported in addition to results."""

    element: Element
    context: Context[Args, Config]
    log: list[LogEntry]
    models: RealModels | None = None

    def process(self, frame: Frame) -> Result:
        """
        Processes a frame as a channel does. Raises `TypeError` or `ValueError` if the result is not
        JSON.
        """
        self.context.clock._advance(frame.pts, frame.time, frame.discontinuity)
        if frame.discontinuity:
            self.element.reset()
        with self.models.during(frame) if self.models else nullcontext():
            result = self.element.process(frame)
        json.dumps(to_message(result), allow_nan=False)
        return result or Result()


def open_element(
    definition: ElementDefinition[Args, Config],
    *,
    args: Mapping[str, object] = {},
    config: Mapping[str, object] | None = None,
    source_id: int = 1,
    size: Size | None = None,
    storage: Storage | None = None,
    fetch: Fetch | None = None,
    infer: Infer | None = None,
    models: Literal['real'] | None = None,
) -> OpenedElement[Args, Config]:
    """
    Opens an element as a channel does: `args` and `config` are checked, and completed with
    defaults.

    With `models='real'`, the models that `plugin.json` declares run on the pictures of the frames,
    with the code of the engine. This works under `eyrie plugin test` only. By default, `infer` is
    answered by the test.
    """
    log: list[LogEntry] = []
    real = RealModels() if models == 'real' else None
    has_config = definition.config is not None and config is not None
    context: Context[Args, Config] = Context(
        args=from_json(definition.args, args, '/args'),
        config=from_json(definition.config, config, '/config') if has_config else None,
        source_id=source_id,
        size=size,
        log=Log(lambda level, message, fields: log.append(LogEntry(level, message, fields))),
        storage=storage or MemoryStorage(),
        fetch=fetch or _NoNetwork(),
        infer=real.infer if real else infer or RecordedAnswers({}),
    )
    return OpenedElement(definition.create(context), context, log, real)


@dataclass
class Run:
    """What an element has returned for a sequence of frames."""

    results: list[Result] = field(default_factory=list)
    events: list[tuple[float, Event]] = field(default_factory=list)
    """With the stream time of their frames in seconds."""
    counters: dict[str, dict[str, float]] = field(default_factory=dict)
    """After the last frame."""
    objects: Sequence[DetectedObject] = ()
    """The objects that the element passes on after the last frame."""


def run_element(opened: OpenedElement[Any, Any], frames: Iterable[Frame]) -> Run:
    """Processes frames in order, and collects the results."""
    run = Run()
    for frame in frames:
        result = opened.process(frame)
        run.results.append(result)
        run.events += [(frame.pts / TICKS_PER_SECOND, event) for event in result.events]
        for name, counter in (result.counters or {}).items():
            run.counters.setdefault(name, {}).update(counter)
        run.objects = frame.objects if result.objects is None else result.objects
    return run


class Stream:
    """Creates frames with consecutive timestamps."""

    def __init__(self, fps: float = 10, size: Size = Size(1280, 720)) -> None:
        self._fps = fps
        self._size = size
        self._n = 0

    def next(
        self,
        objects: Sequence[DetectedObject] = (),
        picture: Picture | None = None,
        *,
        skip: int = 0,
        discontinuity: bool = False,
    ) -> Frame:
        """Returns the next frame, after dropping `skip` frames."""
        self._n += 1 + skip
        seconds = self._n / self._fps
        return Frame(
            n=self._n,
            pts=round(seconds * TICKS_PER_SECOND),
            time=round(seconds * _MICROSECONDS_PER_SECOND),
            discontinuity=discontinuity,
            width=self._size.width,
            height=self._size.height,
            objects=objects,
            picture_or_none=picture,
        )


def create_picture(pixels: NDArray[numpy.uint8], format: PixelFormat) -> Picture:
    """
    Creates a picture without padding from an array of the shape that `Picture` describes. It cannot
    be in JPEG, whose array does not have the size of the picture.
    """
    if format == 'JPEG':
        raise ValueError('create_picture does not support JPEG: create a Picture with its size')
    height, width = (
        (pixels.shape[1], pixels.shape[2]) if format in ('RGBP', 'BGRP') else pixels.shape[:2]
    )
    if format == 'I420':
        height = height * 2 // 3
    view = shape_pixels(pixels.reshape(-1), format, width, height)
    view.flags.writeable = False
    return Picture(width, height, format, Rectangle(0, 0, width, height), view)


def read_recording(
    path: str | Path, *, channel: int | None = None, size: Size = Size(1280, 720)
) -> Iterator[Frame]:
    """
    Reads frames that a sink of the type `file` has written, with the objects and counters of the
    pipeline: of one channel, by default that of the first line. A recording does not contain the
    size of the source picture.
    """
    with open(path) as lines:
        for index, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                channel = record['channel'] if channel is None else channel
                if record['channel'] == channel:
                    yield _to_frame(record, size)
            except (ValueError, KeyError) as error:
                raise ValueError(f'{path}:{index}: {error!r}') from error


def _to_frame(record: dict[str, Any], size: Size) -> Frame:
    return Frame(
        n=record['n'],
        pts=record['pts'],
        time=round(datetime.fromisoformat(record['time']).timestamp() * _MICROSECONDS_PER_SECOND),
        width=size.width,
        height=size.height,
        objects=record['objects'],
        counters=record['counters'],
    )


def format_run(run: Run) -> str:
    """
    Formats a run as text for a comparison: a line for each event with its time, then one for each
    counter.

        12.40 s crowd {"count": 11}
        counter door {"down": 3, "up": 4}
    """
    lines = []
    for seconds, event in run.events:
        [fields] = to_message(Result(events=[event]))['events']
        lines.append(f'{seconds:.2f} s {fields.pop("type")} {_format_fields(fields)}\n')
    lines += [
        f'counter {name} {_format_fields(to_json(counter))}\n'
        for name, counter in sorted(run.counters.items())
    ]
    return ''.join(lines)


def _format_fields(fields: Mapping[str, object]) -> str:
    rounded = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in fields.items()
    }
    return json.dumps(rounded, sort_keys=True)
