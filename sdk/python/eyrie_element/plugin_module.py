"""Loads the entry module of a plugin, and describes its errors."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

from .element import ElementDefinition

_DEBIAN_PACKAGES = {'cv2': 'python3-opencv', 'skimage': 'python3-skimage', 'PIL': 'python3-pil'}


def add_package_paths(folder: Path) -> None:
    """
    Lets modules import other files of the package, and the libraries in its folder `vendor` and in
    `wheels/*.whl`, before those of the machine.
    """
    wheels = sorted((folder / 'wheels').glob('*.whl'))
    paths = [str(path) for path in (folder, folder / 'vendor', *wheels)]
    sys.path.extend(path for path in paths if path not in sys.path)


def load_elements(entry: Path) -> dict[str, ElementDefinition[Any, Any]]:
    """Returns the elements that the entry module defines. Raises what the module raises."""
    add_package_paths(entry.parent)
    spec = importlib.util.spec_from_file_location(entry.stem, entry)
    if spec is None or spec.loader is None:
        raise ImportError(f'{entry.name} is not a module of Python')
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up the module that defines them.
    sys.modules[entry.stem] = module
    spec.loader.exec_module(module)
    elements = getattr(module, 'elements', None)
    if not isinstance(elements, dict):
        raise TypeError(
            f'{entry.name} should have a variable elements: a dict of ElementDefinition by name'
        )
    return elements


def find_definition(entry: Path, name: str) -> ElementDefinition[Any, Any]:
    definition = load_elements(entry).get(name)
    if not isinstance(definition, ElementDefinition):
        raise LookupError(
            f'the variable elements of {entry.name} has no ElementDefinition "{name}"'
        )
    return definition


def describe_error(error: BaseException, folder: Path | None) -> str:
    """
    Returns the message of an exception, and where in the folder of the plugin it was raised, such
    as `KeyError: 'limit' (element.py:12)`.
    """
    message = ''.join(traceback.format_exception_only(type(error), error)[-1:]).strip()
    if isinstance(error, ModuleNotFoundError):
        message += f': {_describe_remedy(error.name or "")}'
    location = _find_location(error, folder) if folder else None
    return f'{message} ({location})' if location else message


def _describe_remedy(module: str) -> str:
    top = module.partition('.')[0]
    package = _DEBIAN_PACKAGES.get(top, f'python3-{top}')
    return f'install it on this machine, for example with apt-get install {package}, or add it to vendor/ of the package'


def _find_location(error: BaseException, folder: Path) -> str | None:
    """The innermost place in the code of the plugin, not in its libraries."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for file, line in reversed(places):
        path = Path(file)
        if (
            path.is_relative_to(folder)
            and not path.is_relative_to(folder / 'vendor')
            and '.whl' not in file
        ):
            return f'{path.relative_to(folder)}:{line}'
    return None
