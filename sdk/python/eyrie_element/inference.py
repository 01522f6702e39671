"""Models that elements run on parts of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .frame import BBox, DetectedObject

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What a model has computed."""

    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """
    The output tensors by name, in the shape and type of the model: (1, 1000) for the scores of 1000
    classes. The first dimension is usually the batch, which is always 1. The model defines the
    unit. Empty for models that detect objects.
    """
    objects: Sequence[DetectedObject] = ()
    """
    The objects that a detection model has found, by descending score. Boxes are normalized to 0..1
    of the whole source picture, also if the model has seen only a region. Empty for other models.
    """

    def output(self, name: str | None = None) -> NDArray[Any]:
        """
        Returns an output: by name, or the only one. Raises `LookupError` that names the outputs if
        it does not exist.
        """
        names = ', '.join(self.outputs) or 'none'
        if name is None:
            if len(self.outputs) != 1:
                raise LookupError(f'the model has the outputs {names}: name one of them')
            [output] = self.outputs.values()
            return output
        if name not in self.outputs:
            raise LookupError(f'the model has no output {name}, but {names}')
        return self.outputs[name]


class Infer(Protocol):
    """
    Runs models on parts of the picture of the frame that is processed now. The engine cuts out the
    part and runs the model; the element receives no pixels.

    Raises `OSError` with the reason if the manifest does not declare the model in
    `capabilities.inference`, if the region is not inside of the picture, if the model fails or
    takes too long, or if the frame has too many requests (32). Also raises if the frame was
    superseded; an element that does not catch this error loses the frame, and continues with the
    next one.
    """

    def __call__(
        self,
        model: str,
        region: BBox | None = None,
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> ModelResult:
        """
        Runs a model of the catalog, or an own model of the package, and waits for the result.

        `region` is normalized to 0..1 of the source picture, such as the `bbox` of an object; what
        is outside of the picture is cut off. None is the whole picture. The thresholds, 0 to 1,
        replace those of models that detect objects.
        """

    def all(
        self,
        model: str,
        regions: Iterable[BBox],
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> list[ModelResult]:
        """
        Runs a model on several regions, which wait at the same time, and returns the results in
        their order. If some fail, it raises the first error after all have ended.
        """


def softmax(scores: ArrayLike) -> NDArray[numpy.float32]:
    """
    Converts the raw scores of classes to probabilities of the same shape, whose sum along the last
    axis is 1.
    """
    import numpy

    values = numpy.asarray(scores, numpy.float64)
    powers = numpy.exp(values - values.max(axis=-1, keepdims=True))
    probabilities: NDArray[numpy.float32] = (powers / powers.sum(axis=-1, keepdims=True)).astype(
        numpy.float32
    )
    return probabilities


def cosine_similarity(a: ArrayLike, b: ArrayLike) -> float:
    """
    Returns how similar two embeddings of the same length are: the cosine of their angle, -1 to 1.
    """
    import numpy

    first, second = (numpy.asarray(values, numpy.float64).reshape(-1) for values in (a, b))
    lengths = numpy.linalg.norm(first) * numpy.linalg.norm(second)
    return float(first @ second / (lengths or 1))
