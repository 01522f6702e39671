"""
Saves the state of an element and restores it in new code, when a development version is replaced.
The engine passes the state on as a text of limited length. Times in the state are those of the
clock of the element, which is saved with it.
"""

from __future__ import annotations

import dataclasses
import json
from base64 import b64decode, b64encode

from .context import Clock
from .element import Element
from .schema import from_json, to_json

MAX_STATE_BYTES = 512 * 1024


def save_state(element: Element, clock: Clock) -> dict[str, str]:
    """
    Returns the encoded `state` of an element that has one. Returns `problem` instead, with the
    reason, if it cannot be kept.
    """
    state = element.state
    if state is None:
        return {}
    kind = type(state)
    if not dataclasses.is_dataclass(state):
        return {'problem': f'it is of type {kind.__name__}: only dataclasses are kept'}
    try:
        saved = {'state': to_json(state), 'clock': clock._save()}
        encoded = json.dumps(saved, allow_nan=False, separators=(',', ':'))
        # Tuples and sets, for example, become lists.
        if from_json(kind, json.loads(encoded)['state']) != state:
            return {'problem': f'its values differ from the types that {kind.__name__} declares'}
    except Exception as error:
        return {'problem': str(error)}
    if len(encoded) > MAX_STATE_BYTES:
        return {'problem': f'it has {len(encoded)} bytes, more than {MAX_STATE_BYTES}'}
    return {'state': b64encode(encoded.encode()).decode()}


def restore_state(element: Element, clock: Clock, encoded: str) -> dict[str, str]:
    """
    Sets the state to that of earlier code. If it does not fit, returns `problem` with the reason.
    """
    kind = type(element.state)
    if not dataclasses.is_dataclass(kind):
        return {'problem': 'the new code has no state that is a dataclass'}
    try:
        saved = json.loads(b64decode(encoded))
    except ValueError:
        return {'problem': 'it is of code in another language'}
    try:
        element.state = from_json(kind, saved['state'], 'state')
        clock._restore(saved['clock'])
    except Exception as error:
        return {'problem': f'{error} in the new code'}
    return {}
