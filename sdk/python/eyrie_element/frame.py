"""Frames, which elements process, and the results that they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

TICKS_PER_SECOND = 90_000

PixelFormat = Literal['GRAY8', 'RGB', 'BGR', 'RGBP', 'BGRP', 'I420', 'JPEG']


class BBox(TypedDict):
    """A box: its top left corner and size, normalized to 0..1 of the source picture."""

    x: float
    y: float
    w: float
    h: float


DetectedObject = TypedDict(
    'DetectedObject',
    {
        'class': str,
        'score': float,
        'bbox': BBox,
        # Set by trackers: the same in all frames that show the object.
        'track': NotRequired[int],
        'attributes': NotRequired[dict[str, object]],
        'embedding': NotRequired[list[float]],
    },
)

Counters = Mapping[str, Mapping[str, float]]
"""Statistics by name of the line or zone, such as `{'door': {'up': 3}}`."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a picture in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of a picture in pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Size and format in which an element receives the pictures of the source."""

    format: PixelFormat
    width: int | None = None
    """
    With only one of width and height, the other one follows from the aspect ratio; with neither,
    from `scale`.
    """
    height: int | None = None
    scale: float | None = None
    multiple_of: int = 1
    """The side that follows from the aspect ratio is rounded up to a multiple of it."""
    letterbox: bool = True
    """
    Whether the aspect ratio is preserved and the rest filled with `fill`. Otherwise, the picture is
    stretched.
    """
    fill: int = 0
    quality: int | None = None
    """Of JPEG, 1 to 95."""


@dataclass(frozen=True, slots=True)
class Picture:
    """
    The picture of a frame in the view of the element.

    `pixels` is a read-only view of the memory to which the media service writes, valid until
    `process` returns: use `pixels.copy()` for what you need later. Its shape is (height, width) for
    GRAY8, (height, width, 3) for RGB and BGR, (3, height, width) for RGBP and BGRP, (height * 3 //
    2, width) for I420, whose sides are rounded up to even numbers first, and (bytes,) for JPEG.
    """

    width: int
    height: int
    format: PixelFormat
    content: Rectangle
    """The area that shows the source; the rest is padding."""
    pixels: NDArray[numpy.uint8]

    def crop(self, bbox: BBox) -> NDArray[numpy.uint8]:
        """
        Returns the pixels of a box of GRAY8, RGB or BGR: a view with at least one pixel, clipped to
        the picture.
        """
        if self.format not in ('GRAY8', 'RGB', 'BGR'):
            raise ValueError(f'crop does not support {self.format}: request GRAY8, RGB or BGR')
        left, right = _clip(bbox['x'], bbox['w'], self.content.x, self.content.width)
        top, bottom = _clip(bbox['y'], bbox['h'], self.content.y, self.content.height)
        return self.pixels[top:bottom, left:right]


def _clip(start: float, length: float, offset: int, size: int) -> tuple[int, int]:
    first = min(max(round(start * size), 0), size - 1)
    last = min(max(round((start + length) * size), first + 1), size)
    return offset + first, offset + last


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The metadata of a video frame, and its picture."""

    n: int
    """Number of the frame within the source."""
    pts: int
    """
    Presentation time in ticks of 90 kHz, monotonic across loops and reconnects of the source. It
    begins anew when the media service restarts, with a discontinuity.
    """
    time: int
    """Capture time in microseconds since 1970."""
    discontinuity: bool = False
    """Whether the stream was interrupted before this frame, or an earlier element was restarted."""
    width: int
    """Width of the source picture in pixels."""
    height: int
    objects: Sequence[DetectedObject] = ()
    """Objects that the preceding elements have added."""
    low_score_objects: Sequence[DetectedObject] = ()
    """Detections whose score is too low for `objects`. Only trackers use them."""
    counters: Counters = field(default_factory=dict)
    picture_or_none: Picture | None = field(default=None, repr=False)
    """The picture, or None if the manifest does not declare that the element needs pixels."""

    @property
    def picture(self) -> Picture:
        """The picture. The manifest must declare `"needs": ["pixels"]`."""
        if self.picture_or_none is None:
            raise LookupError(
                'the frame has no picture: declare "needs": ["pixels"] in plugin.json'
            )
        return self.picture_or_none


@dataclass(kw_only=True)
class Event:
    """
    Base class of events. Subclasses are dataclasses that name their type, and add fields:

        @dataclass
        class Crowd(Event):
            type = 'crowd'
            count: int

    Fields that are None are omitted. A trailing underscore is not part of the name of a field.
    """

    type: ClassVar[str]

    name: str | None = None
    direction: str | None = None
    track: int | None = None
    class_: str | None = None
    bbox: BBox | None = None


@dataclass(slots=True, kw_only=True)
class Result:
    """The changes that an element makes to a frame. What is None leaves the frame unchanged."""

    objects: Sequence[DetectedObject] | None = None
    """Replaces the objects of the frame."""
    low_score_objects: Sequence[DetectedObject] | None = None
    """Replaces the low-score objects of the frame. Trackers return an empty list."""
    counters: Counters | None = None
    """Merged into the counters of the preceding elements."""
    events: Sequence[Event] = ()
