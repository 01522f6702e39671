"""Converts between dataclasses and JSON: their schemas, and their values."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]

_NAMES = {str: 'string', int: 'integer', float: 'number', bool: 'boolean', types.NoneType: 'null'}


@dataclass(frozen=True, kw_only=True)
class Field:
    """
    Describes and limits a field of args or config:

        limit: Annotated[
            int, Field(minimum=0, description='Number of people that is not reported yet')
        ] = 10
    """

    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    """Of a string in characters, of a list in items."""
    max_length: int | None = None
    pattern: str | None = None

    def to_schema(self, is_list: bool) -> Schema:
        suffix = 'Items' if is_list else 'Length'
        keywords = {
            'description': self.description,
            'minimum': self.minimum,
            'maximum': self.maximum,
            f'min{suffix}': self.min_length,
            f'max{suffix}': self.max_length,
            'pattern': self.pattern,
        }
        return {name: value for name, value in keywords.items() if value is not None}

    def check(self, value: Any, pointer: str) -> None:
        """Raises `ValueError` if a value of the type of the field is not within the limits."""
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f'{pointer} should be at least {self.minimum}')
        if self.maximum is not None and value > self.maximum:
            raise ValueError(f'{pointer} should be at most {self.maximum}')
        if self.min_length is not None and len(value) < self.min_length:
            raise ValueError(f'{pointer} should have a length of at least {self.min_length}')
        if self.max_length is not None and len(value) > self.max_length:
            raise ValueError(f'{pointer} should have a length of at most {self.max_length}')
        if self.pattern is not None and not re.search(self.pattern, value):
            raise ValueError(f'{pointer} should match {self.pattern}')


def to_schema(kind: Any) -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a type. Raises `TypeError` if there is none."""
    if kind in _NAMES:
        return {'type': _NAMES[kind]}
    if kind in (Any, object):
        return {}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        schema = to_schema(arguments[0])
        for limits in arguments[1:]:
            if isinstance(limits, Field):
                schema |= limits.to_schema(schema.get('type') == 'array')
        return schema
    if origin is Literal:
        return {'enum': list(arguments)}
    if origin in (Union, types.UnionType):
        return {'anyOf': [to_schema(argument) for argument in arguments]}
    if origin is list:
        return {'type': 'array', 'items': to_schema(arguments[0])}
    if origin is dict and arguments[0] is str:
        return {'type': 'object', 'additionalProperties': to_schema(arguments[1])}
    if is_typeddict(kind):
        return {
            'type': 'object',
            'properties': {name: to_schema(hint) for name, hint in get_type_hints(kind).items()},
            'required': sorted(kind.__required_keys__),
        }
    if dataclasses.is_dataclass(kind):
        return _to_object_schema(kind)
    raise TypeError(
        f'args, config and events cannot contain {kind}: use str, int, float, bool, Literal, list, '
        'dict[str, …], unions, or dataclasses'
    )


def _to_object_schema(kind: Any) -> Schema:
    properties: Schema = {}
    required = []
    for name, field, hint in _list_fields(kind):
        properties[name] = to_schema(hint)
        if _has_default(field):
            properties[name]['default'] = to_json(_get_default(field))
        else:
            required.append(name)
    return {
        'type': 'object',
        'properties': properties,
        **({'required': required} if required else {}),
        'additionalProperties': False,
    }


def _list_fields(kind: Any) -> list[tuple[str, dataclasses.Field[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return [(to_name(field.name), field, hints[field.name]) for field in dataclasses.fields(kind)]


def to_name(name: str) -> str:
    """
    The name of a field in JSON: a trailing underscore only distinguishes it from words of Python,
    such as `class_`.
    """
    return name.rstrip('_')


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return not (
        field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )


def _get_default(field: dataclasses.Field[Any]) -> Any:
    return (
        field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    )


def to_json(value: Any) -> Any:
    """
    Converts dataclasses, numpy numbers and numpy arrays. Raises `TypeError` for other values
    without a JSON form.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if dataclasses.is_dataclass(value):
        return {
            to_name(field.name): to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if hasattr(value, 'tolist'):
        return value.tolist()
    raise TypeError(f'{type(value).__name__} cannot be expressed as JSON')


def from_json(kind: Any, value: Any, pointer: str = '') -> Any:
    """
    Converts a JSON value to a type, and adds defaults. Raises `ValueError` that names the invalid
    part.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        converted = from_json(arguments[0], value, pointer)
        for limits in arguments[1:]:
            if isinstance(limits, Field) and converted is not None:
                limits.check(converted, pointer)
        return converted
    if origin in (Union, types.UnionType):
        return _from_union(arguments, value, pointer)
    if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        return _from_object(kind, value, pointer)
    if origin is list and isinstance(value, list):
        return [
            from_json(arguments[0], item, f'{pointer}/{index}') for index, item in enumerate(value)
        ]
    if origin is dict and isinstance(value, Mapping):
        return {
            _to_key(arguments[0], key): from_json(arguments[1], item, f'{pointer}/{key}')
            for key, item in value.items()
        }
    if _accepts(kind, value):
        return float(value) if kind is float else value
    raise ValueError(f'{pointer} should be {_describe(kind)}, not {value!r}')


def _to_key(kind: Any, key: str) -> Any:
    return int(key) if kind is int else key


def _accepts(kind: Any, value: Any) -> bool:
    if kind in (Any, object) or is_typeddict(kind):
        return True
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is kind


def _describe(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return 'one of ' + ', '.join(map(repr, get_args(kind)))
    return str(to_schema(kind).get('type', kind))


def _from_union(kinds: tuple[Any, ...], value: Any, pointer: str) -> Any:
    problem: ValueError | None = None
    for kind in kinds:
        try:
            return from_json(kind, value, pointer)
        except ValueError as error:
            problem = problem or error
    raise problem or ValueError(pointer)


def _from_object(kind: Any, value: Mapping[str, Any], pointer: str) -> Any:
    fields = _list_fields(kind)
    unknown = sorted(value.keys() - {name for name, _, _ in fields})
    if unknown:
        raise ValueError(f'{pointer}/{unknown[0]} is not known')
    converted = {}
    for name, field, hint in fields:
        if name in value:
            converted[field.name] = from_json(hint, value[name], f'{pointer}/{name}')
        elif not _has_default(field):
            raise ValueError(f'{pointer}/{name} is missing')
    return kind(**converted)
