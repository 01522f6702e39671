"""Names the colours of pixels."""

import numpy
from numpy.typing import NDArray

# A pixel with less chroma has no hue: it is grey, or white if it is brighter. A pixel that is too
# dark is black. In 0..1.
MIN_CHROMA = 0.15
MIN_WHITE = 0.7
MAX_BLACK = 0.25

# The names of hues, each with the end of its range in degrees. Red is at both ends of the circle.
HUES = [
    (20, 'red'),
    (45, 'orange'),
    (70, 'yellow'),
    (165, 'green'),
    (260, 'blue'),
    (340, 'purple'),
    (360, 'red'),
]
NAMES = ['black', 'grey', 'white', 'red', 'orange', 'yellow', 'green', 'blue', 'purple']
BLACK, GREY, WHITE = 0, 1, 2
HUE_ENDS = numpy.array([end for end, _ in HUES])
HUE_NAMES = numpy.array([NAMES.index(name) for _, name in HUES])


def classify_colour(pixels: NDArray[numpy.uint8]) -> str:
    """
    Returns the name of the colour that most pixels have. `pixels` is RGB, with the shape (height,
    width, 3).
    """
    counts = numpy.bincount(name_pixels(pixels).reshape(-1), minlength=len(NAMES))
    return NAMES[int(counts.argmax())]


def name_pixels(pixels: NDArray[numpy.uint8]) -> NDArray[numpy.intp]:
    """Returns the index in `NAMES` for each pixel."""
    colours = pixels.astype(numpy.float32) / 255
    value = colours.max(axis=2)
    chroma = value - colours.min(axis=2)
    ranges = numpy.searchsorted(HUE_ENDS, compute_hue(colours, value, chroma), side='right')
    hue_names = HUE_NAMES[ranges.clip(0, len(HUES) - 1)]
    names = numpy.where(
        chroma >= MIN_CHROMA, hue_names, numpy.where(value < MIN_WHITE, GREY, WHITE)
    )
    named: NDArray[numpy.intp] = numpy.where(value < MAX_BLACK, BLACK, names)
    return named


def compute_hue(
    colours: NDArray[numpy.float32], value: NDArray[numpy.float32], chroma: NDArray[numpy.float32]
) -> NDArray[numpy.float32]:
    """
    Returns the hue of each pixel in degrees, 0 for grey ones. `value` and `chroma` are those of the
    HSV colour model: the greatest component of a pixel, and its distance from the least one.
    """
    red, green, blue = colours[..., 0], colours[..., 1], colours[..., 2]
    divisor = numpy.where(chroma == 0, 1, chroma)
    # The circle has six sectors of 60 degrees. Those around red, green and blue begin at 0, 2 and
    # 4.
    sector = numpy.where(
        value == red,
        (green - blue) / divisor % 6,
        numpy.where(value == green, (blue - red) / divisor + 2, (red - green) / divisor + 4),
    )
    return (sector * 60).astype(numpy.float32)
