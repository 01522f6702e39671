// @module-tag long

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { writeOwnModel } from '../../../test/fixtures/engine/mean-colour-model.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { TYPE_CACHE } from '../../../test/fixtures/setup/type-cache.ts'
import { readPluginFolder } from '../plugin/plugin-files.ts'

let folder: string
beforeAll(() => {
  vi.stubEnv('MYPY_CACHE_DIR', TYPE_CACHE)
  folder = mkdtempSync(join(tmpdir(), 'eyrie-python-project-'))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const COLOUR_ELEMENT = `
from dataclasses import dataclass

from eyrie_element import Context, Element, ElementDefinition, Elements, Event, Frame, Result


@dataclass
class Args:
    model: str = 'colour'


@dataclass
class Red(Event):
    type = 'red'
    share: float


class Colours(Element):
    def __init__(self, context: Context[Args, None]) -> None:
        self.context = context

    def process(self, frame: Frame) -> Result:
        [result] = self.context.infer.all(self.context.args.model, [{'x': 0, 'y': 0, 'w': 0.5, 'h': 1}])
        found = self.context.infer('scene-detector', score_threshold=1)
        return Result(objects=found.objects, events=[Red(round(result.output()[0, 0, 0, 0].item(), 2))])


elements: Elements = {'my-colours': ElementDefinition(Colours, args=Args, events=[Red])}
`

const COLOUR_TEST = `
from unittest import TestCase, skipUnless

import numpy

from element import elements
from eyrie_element.testing import Stream, create_picture, format_run, has_real_models, open_element, run_element


@skipUnless(has_real_models(), 'runs with eyrie plugin test')
class ColoursTest(TestCase):
    def setUp(self) -> None:
        pixels = numpy.zeros((36, 64, 3), numpy.uint8)
        pixels[:, :32, 0] = 255
        self.frame = Stream(fps=10).next(picture=create_picture(pixels, 'RGB'))

    def test_sees_the_colour(self) -> None:
        run = run_element(open_element(elements['my-colours'], models='real'), [self.frame])
        self.assertEqual(format_run(run), '0.10 s red {"share": 1.0}\\n')

    def test_finds_models_of_the_machine(self) -> None:
        run = run_element(open_element(elements['my-colours'], models='real'), [self.frame])
        self.assertEqual(run.results[0].objects, [])

    def test_says_what_is_wrong_as_the_engine_does(self) -> None:
        undeclared = open_element(elements['my-colours'], args={'model': 'faces'}, models='real')
        with self.assertRaisesRegex(OSError, 'the manifest does not declare the model faces'):
            run_element(undeclared, [self.frame])
        without_picture = open_element(elements['my-colours'], models='real')
        with self.assertRaisesRegex(OSError, 'the frame has no picture for the models'):
            run_element(without_picture, [Stream().next()])
`

const run = (...args: string[]) => runEyrieCommand(['plugin', ...args], { data: folder })
const create = (project: string, reads: string) =>
  run('create', project, '--language', 'python', '--reads', reads, '--description', 'Tries it out')
const readManifest = (project: string) =>
  JSON.parse(readFileSync(join(project, 'plugin.json'), 'utf8'))

describe('eyrie plugin create --language python', () => {
  it.each([
    ['objects', { crowd: { count: 'number' } }],
    ['pictures', { dark: { brightness: 'number' }, bright: { brightness: 'number' } }],
  ])(
    'creates an element that reads %s, whose types and tests are correct',
    async (reads, events) => {
      const project = join(folder, `my-${reads}`)
      expect(await create(project, reads)).toMatchObject({ code: 0, err: '' })
      for (const file of [
        'README.md',
        '.github/workflows/test.yaml',
        '.sdk/eyrie-element/eyrie_element/py.typed',
      ]) {
        expect(existsSync(join(project, file))).toBe(true)
      }
      expect(readManifest(project)).toMatchObject({
        entry: 'element.py',
        elements: [
          {
            name: `my-${reads}`,
            description: 'Tries it out',
            capabilities: { budget_ms: 5, events },
            params_schema: { type: 'object', properties: { limit: { minimum: 0 } } },
            config_schema: null,
          },
        ],
      })
      const tested = await run('test', project)
      expect(tested).toMatchObject({
        code: 0,
        out: expect.stringMatching(/Success: no issues|mypy is not installed/),
      })
      expect(tested.err).toMatch(/Ran 1 test in .*\n\nOK/s)
    },
  )

  it('packs only what the engine needs', async () => {
    const project = join(folder, 'my-packed')
    await create(project, 'objects')
    for (const name of ['__pycache__', 'vendor']) {
      mkdirSync(join(project, name))
      writeFileSync(join(project, name, 'library.py'), '')
    }
    const { files } = await readPluginFolder(project)
    expect([...files.keys()]).toEqual([
      'README.md',
      'element.py',
      'plugin.json',
      'pyproject.toml',
      'test_element.py',
      'vendor/library.py',
    ])
  })
})

describe('eyrie plugin test of a plugin in Python', () => {
  it('fails with the file and line of a failed test', async () => {
    const project = join(folder, 'my-broken')
    await create(project, 'objects')
    const file = join(project, 'element.py')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('count > self.args.limit', 'count >= self.args.limit'),
    )
    const failed = await run('test', project)
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringMatching(/test_element\.py", line \d+/),
    })
    expect(failed.err).toMatch(/the tests of .*my-broken have failed/)
  })
})

describe('eyrie plugin test of an element in Python with models', () => {
  it('runs the real models where a test asks for them', async () => {
    const project = join(folder, 'my-colours')
    await create(project, 'objects')
    // The next command writes the SHA-256.
    const model = {
      ...writeOwnModel(project, 'colour', { width: 8, height: 8 }),
      sha256: undefined,
    }
    writeFileSync(join(project, 'element.py'), COLOUR_ELEMENT)
    writeFileSync(join(project, 'test_element.py'), COLOUR_TEST)
    const manifest = readManifest(project)
    manifest.elements[0].capabilities = {
      inference: { models: ['scene-detector'], own: [model], width: 64 },
      budget_ms: 5,
    }
    writeFileSync(join(project, 'plugin.json'), JSON.stringify(manifest))
    expect(await run('generate', project)).toMatchObject({ code: 0 })
    const tested = await run('test', project)
    expect(tested).toMatchObject({
      code: 0,
      err: expect.stringMatching(/Ran 3 tests in .*\n\nOK\n/s),
    })
  })
})

describe('eyrie plugin generate of a plugin in Python', () => {
  it('names the file and line of an error in the code', async () => {
    const project = join(folder, 'my-faulty')
    await create(project, 'objects')
    const file = join(project, 'element.py')
    writeFileSync(file, `nowhere.length\n${readFileSync(file, 'utf8')}`)
    expect(await run('generate', project)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "my-faulty: NameError: name 'nowhere' is not defined (element.py:1)",
      ),
    })
  })
})
