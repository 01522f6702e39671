import json
import socket
import struct
from base64 import b64encode
from collections.abc import Sequence
from threading import Thread
from typing import Any
from unittest import TestCase

import numpy

from eyrie_element import (
    Context,
    DetectedObject,
    Element,
    ElementDefinition,
    Event,
    Frame,
    ModelResult,
    NoArgs,
    Result,
    cosine_similarity,
    softmax,
)
from eyrie_element.process.connection import Connection
from eyrie_element.process.engine_infer import EngineInfer, decode_result, describe_call
from eyrie_element.testing import InferRequest, RecordedAnswers, Stream, open_element, run_element


def encode(name: str, kind: str, dims: Sequence[int], values: Any) -> dict[str, Any]:
    return {'name': name, 'type': kind, 'dims': dims, 'data': b64encode(values.tobytes()).decode()}


class ModelResultTest(TestCase):
    def test_has_arrays_in_the_shape_and_type_of_the_model(self) -> None:
        for kind in ('float32', 'float64', 'int32', 'uint8'):
            values = numpy.array([[1, 2]], kind)
            [output] = decode_result(
                {'outputs': [encode('a', kind, [1, 2], values)], 'objects': []}
            ).outputs.values()
            self.assertEqual((output.dtype.name, output.tolist()), (kind, values.tolist()))
            self.assertTrue(output.flags.writeable)
        large = encode('large', 'int64', [2], numpy.array([2**53, -1], numpy.float64))
        flags = encode('flags', 'bool', [2], numpy.array([1, 0], numpy.uint8))
        outputs = decode_result({'outputs': [large, flags], 'objects': []}).outputs
        self.assertEqual(
            (outputs['large'].dtype.name, outputs['large'].tolist()), ('int64', [2**53, -1])
        )
        self.assertEqual(
            (outputs['flags'].dtype.name, outputs['flags'].tolist()), ('bool', [True, False])
        )

    def test_has_outputs_by_name_of_which_the_only_one_needs_no_name(self) -> None:
        one = ModelResult({'scores': numpy.array([[0]], numpy.float32)})
        two = ModelResult(
            {'a': numpy.array([[0]], numpy.float32), 'b': numpy.array([[1]], numpy.float32)}
        )
        self.assertEqual(one.output().item(), 0)
        self.assertEqual(two.output('b').item(), 1)
        for result, name, reason in [
            (two, None, 'the model has the outputs a, b: name one of them'),
            (one, 'b', 'the model has no output b, but scores'),
            (ModelResult(), None, 'the model has the outputs none'),
        ]:
            with self.subTest(reason), self.assertRaisesRegex(LookupError, reason):
                result.output(name)

    def test_is_converted_to_probabilities_and_the_similarity_of_embeddings(self) -> None:
        self.assertEqual(softmax([1000, 1000]).tolist(), [0.5, 0.5])
        self.assertAlmostEqual(softmax(numpy.log([[1, 3]]))[0, 1].item(), 0.75)
        self.assertAlmostEqual(cosine_similarity([1, 2], [2, 4]), 1)
        self.assertEqual(cosine_similarity([1, 0], [0, 1]), 0)
        self.assertEqual(cosine_similarity([0, 0], [0, 1]), 0)


class InferCallTest(TestCase):
    def test_contains_only_what_is_given(self) -> None:
        self.assertEqual(
            describe_call('m', None, None, None, None), {'method': 'infer', 'model': 'm'}
        )
        region = {'x': numpy.float32(0.5), 'y': 0, 'w': float('nan'), 'h': float('inf')}
        self.assertEqual(
            describe_call('m', 3, region, 0.5, None),  # type: ignore[arg-type]
            {
                'method': 'infer',
                'model': 'm',
                'n': 3,
                'region': {'x': 0.5, 'y': 0, 'w': None, 'h': None},
                'thresholds': {'score_threshold': 0.5},
            },
        )

    def test_of_several_regions_are_sent_before_the_first_is_answered(self) -> None:
        ours, theirs = socket.socketpair()
        infer = EngineInfer(Connection(ours.detach()))
        received: list[tuple[int, int]] = []

        def serve() -> None:
            stream = theirs.makefile('rwb')
            ids = []
            for _ in range(2):
                length, kind = struct.unpack('<IB', stream.read(5))
                message = json.loads(stream.read(length))
                received.append((kind, message['call']['region']['x']))
                ids.append(message['id'])
            for id in reversed(ids):
                body = (
                    b'{"type":"reply","id":%d,"value":{"outputs":[],"objects":[{"score":%d}]}}'
                    % (id, id)
                )
                stream.write(struct.pack('<IB', len(body), 0) + body)
            stream.flush()

        engine = Thread(target=serve)
        engine.start()
        results = infer.all('m', [{'x': x, 'y': 0, 'w': 1, 'h': 1} for x in (1, 2)])
        engine.join()
        theirs.close()
        self.assertEqual(received, [(4, 1), (4, 2)])
        self.assertEqual([result.objects for result in results], [[{'score': 1}], [{'score': 2}]])


class Dog(Event):
    type = 'dog'


class Dogs(Element):
    """Reports the objects that its model takes for dogs."""

    def __init__(self, context: Context[NoArgs, None]) -> None:
        self.infer = context.infer

    def process(self, frame: Frame) -> Result:
        results = self.infer.all('animals', [detected['bbox'] for detected in frame.objects])
        return Result(events=[Dog() for result in results if result.output()[0, 1] > 0.5])


definition = ElementDefinition(Dogs, args=NoArgs)


def scores(*values: float) -> ModelResult:
    return ModelResult({'scores': numpy.array([values], numpy.float32)})


class RecordedAnswersTest(TestCase):
    def run_with(self, infer: RecordedAnswers | None, count: int = 2) -> int:
        animal: DetectedObject = {
            'class': 'animal',
            'score': 0.9,
            'bbox': {'x': 0.25, 'y': 0.5, 'w': 0.25, 'h': 0.25},
        }
        run = run_element(open_element(definition, infer=infer), [Stream().next([animal] * count)])
        return len(run.events)

    def test_answer_in_order_or_are_computed(self) -> None:
        infer = RecordedAnswers({'animals': [scores(0.75, 0.25), scores(0.25, 0.75)]})
        self.assertEqual(self.run_with(infer), 1)
        self.assertEqual(
            infer.requests,
            [InferRequest('animals', {'x': 0.25, 'y': 0.5, 'w': 0.25, 'h': 0.25})] * 2,
        )
        computed = RecordedAnswers(
            {
                'animals': lambda request: scores(
                    0, request.region['x'] + 0.5 if request.region else 0
                )
            }
        )
        self.assertEqual(self.run_with(computed), 2)

    def test_name_the_model_whose_answers_are_missing(self) -> None:
        with self.assertRaisesRegex(OSError, 'the test has no answers of the model animals'):
            self.run_with(None)
        with self.assertRaisesRegex(OSError, 'the test has only 1 answers of the model animals'):
            self.run_with(RecordedAnswers({'animals': [scores(0, 1)]}))
