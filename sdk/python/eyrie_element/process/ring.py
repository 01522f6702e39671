"""
Reads pictures from frame rings. A ring is a file in shared memory to which the media service writes
the pictures of a view. sdk/contract/ring.ts describes its layout.
"""

from __future__ import annotations

import mmap
import os
import socket
from struct import unpack_from
from typing import TYPE_CHECKING, Any, cast

from ..frame import Picture, PixelFormat, Rectangle

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_MAGIC = 0x52595245
_VERSION = 2
_HEADER_BYTES = 4096

# Offsets of fields in the header of the file. The size of the payload follows the distance between
# slots.
_FORMAT_OFFSET = 20
_SLOT_STRIDE_OFFSET = 32
_CONTENT_OFFSET = 72
# Offsets of fields in a slot, which begins with its sequence number.
_PAYLOAD_BYTES_OFFSET = 36
_PAYLOAD_OFFSET = 64


class Ring:
    """One ring, mapped into memory."""

    def __init__(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        # Unmapped with the last array that refers to it.
        self._memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        os.close(descriptor)
        magic, version, self._slots, self._width, self._height = unpack_from('<5I', self._memory)
        if magic != _MAGIC or version != _VERSION:
            raise ValueError(
                f'the file is no frame ring of version {_VERSION}: run media and engine of one release'
            )
        name: bytes = unpack_from('8s', self._memory, _FORMAT_OFFSET)[0]
        self._format = cast(PixelFormat, name.rstrip(b'\0').decode())
        self._stride, self._payload_size = unpack_from('<2Q', self._memory, _SLOT_STRIDE_OFFSET)
        self._content = Rectangle(*unpack_from('<4I', self._memory, _CONTENT_OFFSET))

    def find_picture(self, n: int) -> Picture | None:
        """
        Returns the picture of frame `n` without copying it; None if another frame has replaced it.
        """
        # Loaded late, because elements without pictures start faster without it.
        import numpy

        if not self.holds(n):
            return None
        slot = self._slot_offset(n)
        length: int = self._payload_size
        if self._format == 'JPEG':
            length = min(length, unpack_from('<I', self._memory, slot + _PAYLOAD_BYTES_OFFSET)[0])
        data = numpy.frombuffer(self._memory, numpy.uint8, length, slot + _PAYLOAD_OFFSET)
        pixels = shape_pixels(data, self._format, self._width, self._height)
        return Picture(self._width, self._height, self._format, self._content, pixels)

    def holds(self, n: int) -> bool:
        """
        Whether the slot of frame `n` contains this frame completely. The writer may replace it at
        any time: check again after the picture was used. Only if the slot still holds the frame,
        what was read was intact.
        """
        sequence: int = unpack_from('<Q', self._memory, self._slot_offset(n))[0]
        return sequence == 2 * n

    def _slot_offset(self, n: int) -> int:
        offset: int = _HEADER_BYTES + n % self._slots * self._stride
        return offset


def shape_pixels(
    data: NDArray[numpy.uint8], pixel_format: PixelFormat, width: int, height: int
) -> NDArray[numpy.uint8]:
    """Returns the bytes of a picture as an array of its rows and columns."""
    if pixel_format == 'JPEG':
        return data
    even_width, even_height = width + width % 2, height + height % 2
    shapes = {
        'GRAY8': (height, width),
        'RGB': (height, width, 3),
        'BGR': (height, width, 3),
        'RGBP': (3, height, width),
        'BGRP': (3, height, width),
        'I420': (even_height * 3 // 2, even_width),
    }
    return data.reshape(shapes[pixel_format])


class RingReceiver:
    """
    The ring of the channel, which the engine sends as an open file before its first use and when it
    is replaced.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._location: dict[str, Any] | None = None
        self._ring: Ring | None = None

    def find(self, location: dict[str, Any]) -> Ring | None:
        """Returns None if the media service has removed the ring."""
        if location != self._location:
            self._ring, self._location = None, None
            try:
                _, descriptors, _, _ = socket.recv_fds(self._socket, 1, 1, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if not descriptors:
                return None
            self._ring, self._location = Ring(descriptors[0]), location
        return self._ring
