"""How a plugin defines its elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from .context import Args, Config, Context
from .frame import Event, Frame, Result, Size, View


class Element(ABC):
    """
    An element of one channel. Frames arrive in order, one at a time.

    An element that raises an exception is closed and opened again; other channels are not affected.
    """

    view: View | None = None
    """
    The view of frames that the element reads. Its manifest must declare `"needs": ["pixels"]`.
    """
    size: Size | None = None
    """Picture size requested for all following elements."""
    metadata: Mapping[str, object] | None = None
    """Static data shown with the channel, such as lines and zones."""
    state: Any = None
    """
    What the element remembers from frame to frame: a dataclass of str, int, float, bool, lists,
    dicts and dataclasses. New code of a development version continues with it, if it fits.
    """

    @abstractmethod
    def process(self, frame: Frame) -> Result | None:
        """Processes one frame. None leaves it unchanged."""

    def reset(self) -> None:
        """
        Discards the state of earlier frames. Called before a frame that follows an interruption of
        the stream.
        """

    def close(self) -> None:
        """Releases resources. Called when the channel ends."""


@dataclass(frozen=True)
class NoArgs:
    """Arguments of an element that has none."""


@dataclass(frozen=True)
class ElementDefinition(Generic[Args, Config]):
    """
    How a channel creates an element, and the types from which `eyrie plugin generate` writes the
    manifest.
    """

    create: Callable[[Context[Args, Config]], Element]
    """The class of the element, or a function that creates it."""
    args: type[Args]
    """A dataclass."""
    config: type[Config] | None = None
    """A dataclass; None if the element has no configuration."""
    events: Sequence[type[Event]] | None = None
    """The events that the element reports. None if the manifest declares them."""
    migrate: Callable[[dict[str, Any], str], Mapping[str, object]] | None = None
    """
    A function that receives arguments as JSON, and the version of the plugin in which they were
    valid, and returns them as this version accepts them, for example with a new name. Called for
    all pipelines when the plugin is switched from an earlier version.
    """


Elements = Mapping[str, ElementDefinition[Any, Any]]
"""The variable `elements` of the entry module: the elements by their names in the manifest."""
