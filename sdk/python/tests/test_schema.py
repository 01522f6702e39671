from dataclasses import dataclass, field
from typing import Annotated, Literal
from unittest import TestCase

from eyrie_element import Field
from eyrie_element.schema import from_json, to_json, to_schema


@dataclass
class Zone:
    name: str
    weight: float = 1


@dataclass
class Args:
    class_: Annotated[str, Field(description='Class of the objects')] = 'person'
    limit: Annotated[int, Field(minimum=0, maximum=99)] = 10
    mode: Literal['fast', 'exact'] = 'fast'
    zones: Annotated[list[Zone], Field(max_length=2)] = field(default_factory=list)
    label: Annotated[str | None, Field(pattern='^[a-z]+$')] = None
    weights: dict[str, float] = field(default_factory=dict)


class SchemaTest(TestCase):
    def test_describes_dataclasses(self) -> None:
        schema = to_schema(Args)
        self.assertEqual(schema['type'], 'object')
        self.assertNotIn('required', schema)
        self.assertFalse(schema['additionalProperties'])
        properties = schema['properties']
        self.assertEqual(
            properties['class'],
            {'type': 'string', 'description': 'Class of the objects', 'default': 'person'},
        )
        self.assertEqual(
            properties['limit'], {'type': 'integer', 'minimum': 0, 'maximum': 99, 'default': 10}
        )
        self.assertEqual(properties['mode'], {'enum': ['fast', 'exact'], 'default': 'fast'})
        self.assertEqual(properties['zones']['items']['required'], ['name'])
        self.assertEqual(properties['zones']['maxItems'], 2)
        self.assertEqual(properties['weights']['additionalProperties'], {'type': 'number'})

    def test_refuses_types_without_a_schema(self) -> None:
        with self.assertRaisesRegex(TypeError, 'cannot contain'):
            to_schema(complex)

    def test_converts_values_and_adds_defaults(self) -> None:
        args = from_json(
            Args, {'class': 'car', 'zones': [{'name': 'door', 'weight': 2}], 'label': 'a'}
        )
        self.assertEqual(args, Args(class_='car', zones=[Zone('door', 2.0)], label='a'))
        self.assertEqual(to_json(args)['class'], 'car')

    def test_names_what_is_invalid(self) -> None:
        for value, reason in [
            ({'limit': -1}, '/args/limit should be at least 0'),
            ({'limit': 100}, '/args/limit should be at most 99'),
            ({'limit': 1.5}, '/args/limit should be integer, not 1.5'),
            ({'limit': True}, '/args/limit should be integer, not True'),
            ({'mode': 'slow'}, "/args/mode should be one of 'fast', 'exact', not 'slow'"),
            ({'zones': [{}]}, '/args/zones/0/name is missing'),
            ({'zones': [{'name': 'a'}] * 3}, '/args/zones should have a length of at most 2'),
            ({'label': 'A'}, '/args/label should match'),
            ({'size': 1}, '/args/size is not known'),
        ]:
            with self.subTest(value=value), self.assertRaises(ValueError) as raised:
                from_json(Args, value, '/args')
            self.assertIn(reason, str(raised.exception))
