import sys
import tempfile
import zipfile
from pathlib import Path
from unittest import TestCase

from eyrie_element.plugin_module import describe_error, find_definition, load_elements

CODE = '''
from own_library import VALUE
from wheel_library import OTHER
from eyrie_element import Element, ElementDefinition, NoArgs

class Probe(Element):
    def __init__(self, context): pass
    def process(self, frame): return None

elements = {'probe': ElementDefinition(Probe, args=NoArgs)}
'''


class PluginModuleTest(TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.entry = self.folder / 'probe_element.py'
        path = sys.path.copy()
        self.addCleanup(lambda: sys.path.__setitem__(slice(None), path))

    def test_finds_libraries_of_the_package(self) -> None:
        (self.folder / 'vendor').mkdir()
        (self.folder / 'vendor' / 'own_library.py').write_text('VALUE = 1')
        (self.folder / 'wheels').mkdir()
        with zipfile.ZipFile(
            self.folder / 'wheels' / 'wheel_library-1.0-py3-none-any.whl', 'w'
        ) as wheel:
            wheel.writestr('wheel_library.py', 'OTHER = 2')
        self.entry.write_text(CODE)
        self.assertEqual(find_definition(self.entry, 'probe').args.__name__, 'NoArgs')
        with self.assertRaisesRegex(LookupError, 'has no ElementDefinition "other"'):
            find_definition(self.entry, 'other')

    def test_reports_a_module_without_elements(self) -> None:
        self.entry.write_text('')
        with self.assertRaisesRegex(TypeError, 'should have a variable elements'):
            load_elements(self.entry)

    def describe(self, code: str) -> str:
        self.entry.write_text(code)
        try:
            load_elements(self.entry)
        except Exception as error:
            return describe_error(error, self.folder)
        return 'no error'

    def test_names_the_file_and_line_of_errors(self) -> None:
        self.assertEqual(self.describe("\n{}['limit']"), "KeyError: 'limit' (probe_element.py:2)")
        self.assertEqual(
            self.describe('\n\nx = ('), "SyntaxError: '(' was never closed (probe_element.py:3)"
        )

    def test_names_the_remedy_for_missing_libraries(self) -> None:
        self.assertRegex(
            self.describe('import skimage.missing'),
            r'apt-get install python3-skimage, or .*vendor/',
        )
