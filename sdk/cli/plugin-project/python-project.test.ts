import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
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

const run = (...args: string[]) => runEyrieCommand(['plugin', ...args], { data: folder })
const create = (project: string, reads: string) =>
  run('create', project, '--language', 'python', '--reads', reads, '--description', 'Tries it out')
const readManifest = (project: string) => JSON.parse(readFileSync(join(project, 'plugin.json'), 'utf8'))

describe('eyrie plugin create --language python', () => {
  it.each([
    ['objects', { crowd: { count: 'number' } }],
    ['pictures', { dark: { brightness: 'number' }, bright: { brightness: 'number' } }],
  ])('creates an element that reads %s, whose types and tests are correct', async (reads, events) => {
    const project = join(folder, `my-${reads}`)
    expect(await create(project, reads)).toMatchObject({ code: 0, err: '' })
    for (const file of [
      'README.md',
      '.github/workflows/test.yaml',
      '.sdk/eyrie-element/eyrie_element/py.typed',
    ])
      expect(existsSync(join(project, file))).toBe(true)
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
  })

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
    expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/test_element\.py", line \d+/) })
    expect(failed.err).toMatch(/the tests of .*my-broken have failed/)
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
      err: expect.stringContaining("my-faulty: NameError: name 'nowhere' is not defined (element.py:1)"),
    })
  })
})
