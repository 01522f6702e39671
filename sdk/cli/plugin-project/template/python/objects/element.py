from dataclasses import dataclass
from typing import Annotated

from eyrie_element import Context, Element, ElementDefinition, Elements, Event, Field, Frame, Result


@dataclass
class Args:
    # Without the underscore in JSON: class is a word of Python.
    class_: Annotated[str, Field(description='Class of the objects')] = 'person'
    limit: Annotated[
        int, Field(minimum=0, description='Number of objects that is not reported yet')
    ] = 10


@dataclass
class Crowd(Event):
    type = 'crowd'
    count: int


class ExampleElement(Element):
    """Reports an event when more objects of a class are visible than the limit."""

    def __init__(self, context: Context[Args, None]) -> None:
        self.args = context.args
        self.is_crowded = False

    def process(self, frame: Frame) -> Result | None:
        count = sum(1 for detected in frame.objects if detected['class'] == self.args.class_)
        was_crowded = self.is_crowded
        self.is_crowded = count > self.args.limit
        return Result(events=[Crowd(count)]) if self.is_crowded and not was_crowded else None

    def reset(self) -> None:
        self.is_crowded = False


elements: Elements = {
    'example-element': ElementDefinition(ExampleElement, args=Args, events=[Crowd])
}
