import json
import os
import tempfile
from pathlib import Path
from unittest import TestCase

from eyrie_element.generate import write_manifest

ENTRY = '''
from dataclasses import dataclass
from eyrie_element import Context, Element, ElementDefinition, Elements, Frame

@dataclass
class Args:
    limit: int = 3

class Nothing(Element):
    def __init__(self, context: Context[Args, None]) -> None: ...
    def process(self, frame: Frame) -> None: ...

elements: Elements = {'nothing': ElementDefinition(Nothing, args=Args)}
'''


class GenerateTest(TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        (self.folder / 'element.py').write_text(ENTRY)
        self.manifest = self.folder / 'plugin.json'
        self.manifest.write_text(
            json.dumps(
                {'name': 'nothing', 'entry': 'element.py', 'elements': [{'name': 'nothing'}]}
            )
        )

    def test_writes_the_schemas_of_the_code(self) -> None:
        write_manifest(self.folder)
        [element] = json.loads(self.manifest.read_text())['elements']
        self.assertEqual(element['params_schema']['properties']['limit']['default'], 3)
        self.assertIsNone(element['config_schema'])

    def test_writes_the_hash_of_own_models(self) -> None:
        (self.folder / 'a.onnx').write_bytes(b'abc')
        manifest = json.loads(self.manifest.read_text())
        manifest['elements'][0]['capabilities'] = {
            'inference': {'own': [{'name': 'a', 'file': 'a.onnx'}]}
        }
        self.manifest.write_text(json.dumps(manifest))
        write_manifest(self.folder)
        [element] = json.loads(self.manifest.read_text())['elements']
        [model] = element['capabilities']['inference']['own']
        self.assertEqual(
            model['sha256'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
        )

    def test_leaves_a_manifest_alone_that_is_up_to_date(self) -> None:
        write_manifest(self.folder)
        os.utime(self.manifest, (0, 0))
        write_manifest(self.folder)
        self.assertEqual(self.manifest.stat().st_mtime, 0)
