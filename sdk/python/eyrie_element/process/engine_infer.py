"""Runs models through the engine."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..frame import BBox
from ..inference import ModelResult
from ..schema import to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How the values of a type are sent, if not as they are.
_SENT_TYPES = {'int64': 'float64', 'bool': 'uint8'}


class Engine(Protocol):
    """
    What answers calls: the connection to the engine, or to the program that runs models in tests.
    """

    def start_call(self, content: dict[str, Any]) -> int: ...

    def finish_calls(self, ids: Sequence[int]) -> list[Any]: ...


class EngineInfer:
    """The `infer` of a context."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.frame_number: int | None = None
        """The frame for which `process` was called last."""

    def __call__(
        self,
        model: str,
        region: BBox | None = None,
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> ModelResult:
        call = describe_call(model, self.frame_number, region, score_threshold, iou_threshold)
        [result] = self._run([call])
        return result

    def all(
        self,
        model: str,
        regions: Iterable[BBox],
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> list[ModelResult]:
        n = self.frame_number
        return self._run(
            [describe_call(model, n, region, score_threshold, iou_threshold) for region in regions]
        )

    def _run(self, calls: list[dict[str, Any]]) -> list[ModelResult]:
        ids = [self._engine.start_call(call) for call in calls]
        # Loaded while the engine runs the models, since elements start faster without it.
        import numpy  # noqa: F401

        return [decode_result(value) for value in self._engine.finish_calls(ids)]


def describe_call(
    model: str,
    n: int | None,
    region: BBox | None,
    score_threshold: float | None,
    iou_threshold: float | None,
) -> dict[str, Any]:
    """Returns the message that has the engine run a model. What is None is omitted."""
    thresholds = _omit_none({'score_threshold': score_threshold, 'iou_threshold': iou_threshold})
    fields = {
        'n': n,
        'region': region and _replace_infinite(region),
        'thresholds': thresholds or None,
    }
    return {'method': 'infer', 'model': model, **_omit_none(to_json(fields))}


def _replace_infinite(box: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no NaN and no infinity. The engine says what is wrong with null."""
    numbers = to_json(box)
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in numbers.items()
    }


def _omit_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def decode_result(value: dict[str, Any]) -> ModelResult:
    """Converts the value of a reply."""
    return ModelResult(
        {output['name']: _decode_output(output) for output in value['outputs']}, value['objects']
    )


def _decode_output(output: dict[str, Any]) -> NDArray[Any]:
    import numpy

    kind: str = output['type']
    # Copied, because the bytes cannot be written.
    sent = numpy.frombuffer(bytearray(b64decode(output['data'])), _SENT_TYPES.get(kind, kind))
    return sent.astype(kind, copy=False).reshape(output['dims'])
