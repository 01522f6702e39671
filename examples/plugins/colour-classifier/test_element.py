from unittest import TestCase

import numpy

from colours import classify_colour
from element import elements
from eyrie_element import DetectedObject, Picture
from eyrie_element.testing import Stream, create_picture, format_run, open_element, run_element

RGB = tuple[int, int, int]


def create_car(track: int, x: float) -> DetectedObject:
    return {
        'class': 'car',
        'score': 0.9,
        'bbox': {'x': x, 'y': 0.25, 'w': 0.25, 'h': 0.5},
        'track': track,
    }


def paint(left: RGB, right: RGB) -> Picture:
    """Returns a picture with two halves."""
    pixels = numpy.empty((36, 64, 3), numpy.uint8)
    pixels[:, :32] = left
    pixels[:, 32:] = right
    return create_picture(pixels, 'RGB')


class ColoursTest(TestCase):
    def test_are_named_as_people_name_them(self) -> None:
        for colour, name in [
            ((200, 20, 30), 'red'),
            ((230, 120, 20), 'orange'),
            ((240, 220, 40), 'yellow'),
            ((30, 120, 50), 'green'),
            ((30, 60, 160), 'blue'),
            ((120, 40, 140), 'purple'),
            ((235, 235, 230), 'white'),
            ((128, 130, 126), 'grey'),
            ((20, 22, 25), 'black'),
        ]:
            with self.subTest(name):
                self.assertEqual(classify_colour(numpy.full((4, 4, 3), colour, numpy.uint8)), name)


class ColourClassifierTest(TestCase):
    def test_names_each_track_once_after_some_frames(self) -> None:
        element = open_element(elements['colour-classifier'], args={'votes': 2})
        stream = Stream(fps=10)
        cars = [create_car(1, 0.1), create_car(2, 0.6)]
        picture = paint((200, 20, 30), (30, 60, 160))
        run = run_element(element, [stream.next(cars, picture) for _ in range(4)])
        self.assertEqual(
            format_run(run),
            '0.20 s colour {"bbox": {"h": 0.5, "w": 0.25, "x": 0.1, "y": 0.25}, "class": "car", "colour": "red", "track": 1}\n'
            '0.20 s colour {"bbox": {"h": 0.5, "w": 0.25, "x": 0.6, "y": 0.25}, "class": "car", "colour": "blue", "track": 2}\n'
            'counter colours {"blue": 1, "red": 1}\n',
        )
        self.assertEqual(
            [detected.get('attributes') for detected in run.objects],
            [{'colour': 'red'}, {'colour': 'blue'}],
        )

    def test_counts_a_hidden_track_once_although_few_frames_of_the_source_are_analysed(
        self,
    ) -> None:
        element = open_element(elements['colour-classifier'], args={'votes': 2})
        stream = Stream(fps=25)
        picture = paint((200, 20, 30), (30, 60, 160))
        cars = [create_car(1, 0.1)]
        shown = [stream.next(cars, picture, skip=24) for _ in range(3)]
        hidden = [stream.next([], picture, skip=24) for _ in range(15)]
        run = run_element(
            element, [*shown, *hidden, *[stream.next(cars, picture) for _ in range(3)]]
        )
        self.assertEqual(len(run.events), 1)
        self.assertEqual(run.counters, {'colours': {'red': 1}})

    def test_passes_on_other_objects(self) -> None:
        person = create_car(3, 0.1)
        person['class'] = 'person'
        element = open_element(elements['colour-classifier'])
        run = run_element(element, [Stream().next([person], paint((0, 0, 0), (0, 0, 0)))])
        self.assertEqual(run.objects, [person])
