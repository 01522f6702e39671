"""Frames and results as the engine sends and receives them."""

from __future__ import annotations

import dataclasses
from typing import Any

from .frame import Event, Frame, Picture, Result
from .schema import to_json, to_name


def to_frame(message: dict[str, Any], picture: Picture | None) -> Frame:
    return Frame(
        n=message['n'],
        pts=message['pts'],
        time=message['time'],
        discontinuity=message['discontinuity'],
        width=message['width'],
        height=message['height'],
        objects=message['objects'],
        low_score_objects=message['lowScoreObjects'],
        counters=message['counters'],
        picture_or_none=picture,
    )


def to_message(result: Result | None) -> dict[str, Any]:
    """Raises `TypeError` if the result contains what JSON cannot express."""
    if result is None:
        return {}
    if not isinstance(result, Result):
        raise TypeError(f'process should return a Result or None, not {type(result).__name__}')
    message = {
        'objects': result.objects,
        'lowScoreObjects': result.low_score_objects,
        'counters': result.counters,
        'events': [_to_event(event) for event in result.events] or None,
    }
    return {name: to_json(value) for name, value in message.items() if value is not None}


def _to_event(event: Event) -> dict[str, Any]:
    fields = {
        to_name(field.name): getattr(event, field.name) for field in dataclasses.fields(event)
    }
    return {
        'type': event.type,
        **{name: value for name, value in fields.items() if value is not None},
    }
