import os
import struct
import tempfile
from unittest import TestCase

import numpy

from eyrie_element.process.ring import Ring, shape_pixels

STRIDE = 4096


def write_ring(
    pixel_format: bytes = b'GRAY8', payload: bytes = b'\1\2\3\4\5\6\7\x08', n: int = 5
) -> int:
    """Writes a ring with 4 slots and one frame, and returns an open file that can only be read."""
    memory = bytearray(4096 + 4 * STRIDE)
    struct.pack_into('<5I', memory, 0, 0x52595245, 2, 4, 4, 2)
    struct.pack_into('8s', memory, 20, pixel_format)
    struct.pack_into('<2Q', memory, 32, STRIDE, 8)
    struct.pack_into('<4I', memory, 72, 0, 0, 4, 2)
    slot = 4096 + n % 4 * STRIDE
    struct.pack_into('<Q', memory, slot, 2 * n)
    struct.pack_into('<I', memory, slot + 36, len(payload))
    memory[slot + 64 : slot + 64 + len(payload)] = payload
    with tempfile.NamedTemporaryFile() as file:
        file.write(memory)
        file.flush()
        return os.open(file.name, os.O_RDONLY)


class RingTest(TestCase):
    def test_shows_pictures_without_a_copy(self) -> None:
        picture = Ring(write_ring()).find_picture(5)
        assert picture
        self.assertEqual(picture.pixels.tolist(), [[1, 2, 3, 4], [5, 6, 7, 8]])
        self.assertFalse(picture.pixels.flags.owndata)
        with self.assertRaisesRegex(ValueError, 'read-only'):
            picture.pixels[0, 0] = 9

    def test_has_no_picture_of_another_frame(self) -> None:
        ring = Ring(write_ring())
        self.assertIsNone(ring.find_picture(1))
        self.assertIsNone(ring.find_picture(4))

    def test_ends_a_jpeg_where_it_ends(self) -> None:
        picture = Ring(write_ring(b'JPEG', b'\xff\xd8\xff\xd9')).find_picture(5)
        assert picture
        self.assertEqual(picture.pixels.tobytes(), b'\xff\xd8\xff\xd9')

    def test_rounds_odd_sides_of_i420_up(self) -> None:
        payload = numpy.zeros(64 * 48 * 3 // 2, numpy.uint8)
        self.assertEqual(shape_pixels(payload, 'I420', 63, 47).shape, (72, 64))

    def test_refuses_other_files(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b'x' * 8192)
            file.flush()
            with self.assertRaisesRegex(ValueError, 'no frame ring'):
                Ring(os.open(file.name, os.O_RDONLY))
