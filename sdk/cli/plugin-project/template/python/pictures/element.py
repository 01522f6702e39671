from dataclasses import dataclass
from typing import Annotated

from eyrie_element import (
    Context,
    Element,
    ElementDefinition,
    Elements,
    Event,
    Field,
    Frame,
    Result,
    View,
)


@dataclass
class Args:
    limit: Annotated[
        float, Field(minimum=0, maximum=1, description='Mean brightness below which it is dark')
    ] = 0.1


@dataclass
class Dark(Event):
    type = 'dark'
    brightness: float


@dataclass
class Bright(Event):
    type = 'bright'
    brightness: float


class ExampleElement(Element):
    """Reports an event when the picture becomes dark, and when it is bright again."""

    # The smallest picture that is sufficient costs the least. The manifest declares its format and
    # size.
    view = View(format='GRAY8', width=64, height=36, letterbox=False)

    def __init__(self, context: Context[Args, None]) -> None:
        self.context = context
        self.is_dark = False

    def process(self, frame: Frame) -> Result | None:
        brightness = float(frame.picture.pixels.mean()) / 255
        self.context.metrics.set('brightness', brightness)
        was_dark = self.is_dark
        self.is_dark = brightness < self.context.args.limit
        if self.is_dark == was_dark:
            return None
        return Result(events=[Dark(brightness) if self.is_dark else Bright(brightness)])

    def reset(self) -> None:
        self.is_dark = False


elements: Elements = {
    'example-element': ElementDefinition(ExampleElement, args=Args, events=[Dark, Bright])
}
