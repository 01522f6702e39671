"""Names of colours."""

import numpy
from numpy.typing import NDArray

# Below these, a pixel has no hue that people would name. All values are 0..1.
MIN_CHROMA = 0.15
MIN_WHITE = 0.7
MAX_BLACK = 0.25

# The end of the range of each hue in degrees. Red begins again at 340.
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


def classify_colour(pixels: NDArray[numpy.uint8]) -> str:
    """Returns the name of the colour that most pixels have. `pixels` is RGB, with the shape (height, width, 3)."""
    names = numpy.bincount(name_pixels(pixels).reshape(-1), minlength=len(NAMES))
    return NAMES[int(names.argmax())]


def name_pixels(pixels: NDArray[numpy.uint8]) -> NDArray[numpy.intp]:
    """Returns the index of the name of each pixel."""
    colours = pixels.astype(numpy.float32) / 255
    value = colours.max(axis=2)
    chroma = value - colours.min(axis=2)
    ends = numpy.array([end for end, _ in HUES])
    hue_names = numpy.array([NAMES.index(name) for _, name in HUES])
    names = hue_names[numpy.searchsorted(ends, compute_hue(colours, value, chroma), side='right').clip(0, len(HUES) - 1)]
    grey_names = numpy.where(value < MAX_BLACK, 0, numpy.where(value < MIN_WHITE, 1, 2))
    named: NDArray[numpy.intp] = numpy.where((chroma < MIN_CHROMA) | (value < MAX_BLACK), grey_names, names)
    return named


def compute_hue(
    colours: NDArray[numpy.float32], value: NDArray[numpy.float32], chroma: NDArray[numpy.float32]
) -> NDArray[numpy.float32]:
    """Returns the hue of each pixel in degrees, 0 for grey ones."""
    red, green, blue = colours[..., 0], colours[..., 1], colours[..., 2]
    safe = numpy.where(chroma == 0, 1, chroma)
    sector = numpy.where(
        value == red,
        (green - blue) / safe % 6,
        numpy.where(value == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    return (sector * 60).astype(numpy.float32)
