from unittest import TestCase

import numpy

from element import elements
from eyrie_element.testing import Stream, create_picture, format_run, open_element, run_element


class ExampleElementTest(TestCase):
    def test_reports_darkness_once_and_its_end(self) -> None:
        element = open_element(elements['example-element'])
        stream = Stream(fps=10)
        pictures = [
            create_picture(numpy.full((36, 64), pixel, numpy.uint8), 'GRAY8')
            for pixel in (255, 0, 0, 51)
        ]
        run = run_element(element, [stream.next(picture=picture) for picture in pictures])
        self.assertEqual(
            format_run(run), '0.20 s dark {"brightness": 0.0}\n0.40 s bright {"brightness": 0.2}\n'
        )
        self.assertEqual(element.context.metrics.values, {'brightness': 0.2})
