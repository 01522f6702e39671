from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar
from unittest import TestCase

import numpy

from eyrie_element import (
    Context,
    DetectedObject,
    Element,
    ElementDefinition,
    Event,
    Field,
    Frame,
    NoArgs,
    Result,
)
from eyrie_element.generate import describe_element
from eyrie_element.testing import (
    MemoryStorage,
    Stream,
    create_picture,
    format_run,
    open_element,
    read_recording,
    run_element,
)


@dataclass
class Args:
    limit: Annotated[int, Field(minimum=0)] = 1


@dataclass
class Config:
    door: str


@dataclass
class Crowd(Event):
    type = 'crowd'
    MAX_COUNT: ClassVar[int] = 99
    count: int
    share: float = 0
    place: str | None = None


class Counter(Element):
    def __init__(self, context: Context[Args, Config]) -> None:
        self.context = context
        self.total = int(context.storage.read('total') or 0)

    def process(self, frame: Frame) -> Result | None:
        if not frame.objects:
            return None
        self.total += len(frame.objects)
        self.context.storage.write('total', str(self.total))
        self.context.log.info('counted', total=self.total)
        door = self.context.config.door if self.context.config else 'door'
        crowded = len(frame.objects) > self.context.args.limit
        return Result(
            counters={door: {'total': self.total, 'seconds': self.context.clock.seconds}},
            events=[Crowd(len(frame.objects), share=1 / 3, track=4)] if crowded else [],
        )

    def reset(self) -> None:
        self.total = 0


definition = ElementDefinition(Counter, args=Args, config=Config, events=[Crowd])


def create_objects(count: int) -> Sequence[DetectedObject]:
    return [{'class': 'person', 'score': 0.9, 'bbox': {'x': 0, 'y': 0, 'w': 0.1, 'h': 0.1}}] * count


class TestKitTest(TestCase):
    def test_runs_an_element(self) -> None:
        storage = MemoryStorage({'total': '5'})
        opened = open_element(definition, config={'door': 'north'}, storage=storage)
        stream = Stream(fps=10)
        run = run_element(opened, [stream.next(create_objects(count)) for count in (1, 0, 2)])
        self.assertEqual(
            format_run(run),
            '0.30 s crowd {"count": 2, "share": 0.3333, "track": 4}\ncounter north {"seconds": 0.3, "total": 8}\n',
        )
        self.assertEqual(storage.read('total'), b'8')
        self.assertEqual(
            [(entry.message, entry.fields) for entry in opened.log][-1], ('counted', {'total': 8})
        )

    def test_resets_the_element_after_an_interruption(self) -> None:
        stream = Stream()
        frames = [
            stream.next(create_objects(1)),
            stream.next(create_objects(1), discontinuity=True),
        ]
        run = run_element(open_element(definition), frames)
        self.assertEqual(run.counters['door']['total'], 1)

    def test_continues_the_clock_when_the_stream_time_begins_anew(self) -> None:
        before, after = Stream(fps=10), Stream(fps=10)
        objects = create_objects(1)
        frames = [
            before.next(objects, skip=99),
            after.next(objects, discontinuity=True),
            after.next(objects),
        ]
        results = run_element(open_element(definition), frames).results
        self.assertEqual(
            [result.counters and result.counters['door']['seconds'] for result in results],
            [10, 10, 10.1],
        )

    def test_stops_the_clock_while_the_stream_time_is_behind_because_it_has_stepped_back(
        self,
    ) -> None:
        stream = Stream(fps=10)
        objects = create_objects(1)
        first, second, third = [stream.next(objects, skip=skip) for skip in (99, 0, 4)]
        frames = [first, replace(second, pts=first.pts - 9000), third]
        results = run_element(open_element(definition), frames).results
        self.assertEqual(
            [result.counters and result.counters['door']['seconds'] for result in results],
            [10, 10, 10.6],
        )

    def test_refuses_invalid_arguments(self) -> None:
        with self.assertRaisesRegex(ValueError, '/args/limit should be at least 0'):
            open_element(definition, args={'limit': -1})
        with self.assertRaisesRegex(ValueError, '/config/door is missing'):
            open_element(definition, config={})

    def test_formats_numbers_of_numpy(self) -> None:
        class Area(Element):
            def __init__(self, context: Context[NoArgs, None]) -> None: ...

            def process(self, frame: Frame) -> Result:
                return Result(
                    counters={
                        'picture': {'dark': numpy.zeros(4).sum(), 'pixels': numpy.arange(3).sum()}
                    }
                )

        run = run_element(open_element(ElementDefinition(Area, args=NoArgs)), [Stream().next()])
        self.assertEqual(format_run(run), 'counter picture {"dark": 0.0, "pixels": 3}\n')

    def test_says_that_it_creates_no_jpeg(self) -> None:
        with self.assertRaisesRegex(ValueError, 'does not support JPEG'):
            create_picture(numpy.zeros(10, numpy.uint8), 'JPEG')

    def test_reads_recordings_of_one_channel(self) -> None:
        line = '{{"channel": {}, "n": {}, "pts": 9000, "time": "2026-05-04T10:12:00.000Z", "objects": [], "counters": {{}}}}\n'
        with tempfile.NamedTemporaryFile('w', suffix='.jsonl') as file:
            file.write(line.format(3, 1) + line.format(4, 1) + line.format(3, 2))
            file.flush()
            frames = list(read_recording(file.name))
            self.assertEqual([frame.n for frame in frames], [1, 2])
            self.assertEqual(frames[0].time, 1_777_889_520_000_000)
            Path(file.name).write_text('{"channel": 3}\n')
            with self.assertRaisesRegex(ValueError, ":1: KeyError\\('n'\\)"):
                list(read_recording(file.name))


class ManifestTest(TestCase):
    def test_describes_args_config_and_the_fields_of_events(self) -> None:
        described = describe_element(definition, {'budget_ms': 5})
        self.assertEqual(
            described['capabilities'],
            {
                'budget_ms': 5,
                'events': {'crowd': {'count': 'number', 'share': 'number', 'place': 'any'}},
            },
        )
        self.assertEqual(described['config_schema']['required'], ['door'])
        self.assertEqual(
            described['params_schema']['properties']['limit'],
            {'type': 'integer', 'minimum': 0, 'default': 1},
        )
