from unittest import TestCase

import numpy

from eyrie_element import BBox, Frame, Picture, Rectangle
from eyrie_element.process.ring import shape_pixels
from eyrie_element.testing import create_picture


class PictureTest(TestCase):
    def test_crops_boxes_to_the_content(self) -> None:
        pixels = numpy.arange(8 * 4, dtype=numpy.uint8).reshape(4, 8)
        picture = Picture(8, 4, 'GRAY8', Rectangle(2, 0, 4, 4), pixels)
        left: BBox = {'x': 0, 'y': 0, 'w': 0.5, 'h': 0.5}
        self.assertEqual(picture.crop(left).tolist(), [[2, 3], [10, 11]])
        beyond: BBox = {'x': 1.5, 'y': 0.5, 'w': 1, 'h': 3}
        self.assertEqual(picture.crop(beyond).tolist(), [[21], [29]])

    def test_crops_no_planes(self) -> None:
        picture = create_picture(numpy.zeros((3, 2, 2), numpy.uint8), 'RGBP')
        with self.assertRaisesRegex(ValueError, 'request GRAY8, RGB or BGR'):
            picture.crop({'x': 0, 'y': 0, 'w': 1, 'h': 1})

    def test_has_the_shape_of_its_format(self) -> None:
        for pixel_format, size, shape in [
            ('GRAY8', 8, (2, 4)),
            ('RGB', 24, (2, 4, 3)),
            ('BGRP', 24, (3, 2, 4)),
            ('I420', 12, (3, 4)),
            ('JPEG', 7, (7,)),
        ]:
            with self.subTest(pixel_format):
                data = numpy.zeros(size, numpy.uint8)
                self.assertEqual(shape_pixels(data, pixel_format, 4, 2).shape, shape)  # type: ignore[arg-type]

    def test_is_missing_with_the_remedy(self) -> None:
        frame = Frame(n=1, pts=0, time=0, width=4, height=2)
        with self.assertRaisesRegex(LookupError, '"needs": ..pixels..'):
            frame.picture
