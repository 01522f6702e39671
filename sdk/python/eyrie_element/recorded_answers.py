"""Answers of models that the author of a test supplies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .frame import BBox
from .inference import ModelResult


@dataclass(frozen=True, slots=True)
class InferRequest:
    """A request that an element has made."""

    model: str
    region: BBox | None = None
    score_threshold: float | None = None
    iou_threshold: float | None = None


Answers = Sequence[ModelResult] | Callable[[InferRequest], ModelResult]
"""The answers of one model: for its requests in order, or computed for each request."""


class RecordedAnswers:
    """
    The `infer` of a test. No model runs: such a test shows what the element does with an answer,
    not whether the model gives it. Models without answers are refused as undeclared ones.
    """

    def __init__(self, answers: Mapping[str, Answers]) -> None:
        self.requests: list[InferRequest] = []
        self._answers = answers

    def __call__(
        self,
        model: str,
        region: BBox | None = None,
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> ModelResult:
        answers = self._answers.get(model)
        if answers is None:
            raise OSError(f'the test has no answers of the model {model}')
        count = sum(request.model == model for request in self.requests)
        request = InferRequest(model, region, score_threshold, iou_threshold)
        self.requests.append(request)
        if not isinstance(answers, Sequence):
            return answers(request)
        if count >= len(answers):
            raise OSError(f'the test has only {len(answers)} answers of the model {model}')
        return answers[count]

    def all(
        self,
        model: str,
        regions: Iterable[BBox],
        *,
        score_threshold: float | None = None,
        iou_threshold: float | None = None,
    ) -> list[ModelResult]:
        return [
            self(model, region, score_threshold=score_threshold, iou_threshold=iou_threshold)
            for region in regions
        ]
