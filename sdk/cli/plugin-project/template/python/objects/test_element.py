from collections.abc import Sequence
from unittest import TestCase

from element import elements
from eyrie_element import DetectedObject
from eyrie_element.testing import Stream, format_run, open_element, run_element


def create_people(count: int) -> Sequence[DetectedObject]:
    return [
        {'class': 'person', 'score': 0.9, 'bbox': {'x': 0.4, 'y': 0.4, 'w': 0.1, 'h': 0.2}}
    ] * count


class ExampleElementTest(TestCase):
    def test_reports_a_crowd_once(self) -> None:
        element = open_element(elements['example-element'], args={'limit': 2})
        stream = Stream(fps=10)
        run = run_element(element, [stream.next(create_people(count)) for count in (2, 3, 4)])
        self.assertEqual(format_run(run), '0.20 s crowd {"count": 3}\n')
