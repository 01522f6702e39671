"""Elements of Eyrie's pipelines in Python."""

from .context import Clock, Context, Fetch, Log, Metrics, Response, Storage
from .element import Element, ElementDefinition, Elements, NoArgs
from .frame import (
    TICKS_PER_SECOND,
    BBox,
    DetectedObject,
    Event,
    Frame,
    Picture,
    Rectangle,
    Result,
    Size,
    View,
)
from .inference import Infer, ModelResult, cosine_similarity, softmax
from .schema import Field

__all__ = [
    'TICKS_PER_SECOND',
    'BBox',
    'Clock',
    'Context',
    'DetectedObject',
    'Element',
    'ElementDefinition',
    'Elements',
    'Event',
    'Fetch',
    'Field',
    'Frame',
    'Infer',
    'Log',
    'Metrics',
    'ModelResult',
    'NoArgs',
    'Picture',
    'Rectangle',
    'Response',
    'Result',
    'Size',
    'Storage',
    'View',
    'cosine_similarity',
    'softmax',
]
