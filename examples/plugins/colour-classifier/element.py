from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated

from colours import classify_colour
from eyrie_element import (
    Context,
    DetectedObject,
    Element,
    ElementDefinition,
    Elements,
    Event,
    Field,
    Frame,
    Picture,
    Result,
    View,
)

# Number of tracks that are remembered, also while they are hidden: a tracker may find them again at
# any time. Beyond it, the one last seen first is deleted.
MAX_TRACKS = 1000


@dataclass
class Args:
    classes: Annotated[
        list[str], Field(min_length=1, description='Classes of the objects whose colour is named')
    ] = field(default_factory=lambda: ['car', 'bus', 'truck'])
    votes: Annotated[
        int, Field(minimum=1, description='Frames of a track after which its colour is decided')
    ] = 5


@dataclass
class Colour(Event):
    """The colour of an object has been decided."""

    type = 'colour'
    colour: str


@dataclass
class Track:
    """The colours that the frames of a track have shown."""

    votes: Counter[str] = field(default_factory=Counter)
    colour: str | None = None


class ColourClassifier(Element):
    """Adds the name of its colour to each tracked object, and counts the objects by colour."""

    view = View(format='RGB', width=640, height=360)

    def __init__(self, context: Context[Args, None]) -> None:
        self.args = context.args
        # In the order in which they were last seen.
        self.tracks: dict[int, Track] = {}
        self.counts: Counter[str] = Counter()

    def process(self, frame: Frame) -> Result:
        events: list[Event] = []
        objects = [self._classify(detected, frame, events) for detected in frame.objects]
        for track in list(self.tracks)[:-MAX_TRACKS]:
            del self.tracks[track]
        return Result(
            objects=objects,
            events=events,
            counters={'colours': self.counts} if self.counts else None,
        )

    def _classify(
        self, detected: DetectedObject, frame: Frame, events: list[Event]
    ) -> DetectedObject:
        """
        Returns the object, with its colour if that is decided. Adds an event in the frame that
        decides it.
        """
        track = detected.get('track')
        if track is None or detected['class'] not in self.args.classes:
            return detected

        state = self.tracks.pop(track, None) or Track()
        self.tracks[track] = state
        if state.colour is None:
            state.votes[classify_object(frame.picture, detected)] += 1
            if state.votes.total() < self.args.votes:
                return detected
            [(colour, _)] = state.votes.most_common(1)
            state.colour = colour
            self.counts[colour] += 1
            events.append(
                Colour(colour, track=track, class_=detected['class'], bbox=detected['bbox'])
            )
        classified = detected.copy()
        classified['attributes'] = {**detected.get('attributes', {}), 'colour': state.colour}
        return classified

    def reset(self) -> None:
        self.tracks.clear()


def classify_object(picture: Picture, detected: DetectedObject) -> str:
    """Names the colour of the middle of an object; its edges show the background."""
    box = detected['bbox']
    middle = picture.crop(
        {
            'x': box['x'] + box['w'] / 4,
            'y': box['y'] + box['h'] / 4,
            'w': box['w'] / 2,
            'h': box['h'] / 2,
        }
    )
    return classify_colour(middle)


elements: Elements = {
    'colour-classifier': ElementDefinition(ColourClassifier, args=Args, events=[Colour])
}
