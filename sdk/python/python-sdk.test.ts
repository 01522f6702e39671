import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { describe, expect, it } from 'vitest'
import { installedProgram } from '../../test/fixtures/requirements/installed-program.ts'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { TYPE_CACHE } from '../../test/fixtures/setup/type-cache.ts'

const SDK = import.meta.dirname
const EXAMPLE = join(SDK, '../../examples/plugins/colour-classifier')

function run(folder: string, program: string, ...args: string[]) {
  const env = { PATH: '/usr/bin:/bin', PYTHONPATH: SDK, MYPYPATH: SDK, MYPY_CACHE_DIR: TYPE_CACHE }
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

const listModules = (folder: string) => readdirSync(folder).filter(name => name.endsWith('.py'))

describe('SDK for Python', () => {
  it.each([
    ['the SDK', join(SDK, 'tests')],
    ['the example', EXAMPLE],
  ])('passes the tests of %s', (_, folder) => {
    const { status, output } = run(folder, 'python3', '-B', '-m', 'unittest')
    expect({ status, output }).toEqual({
      status: 0,
      output: expect.stringMatching(/Ran [1-9]\d* tests? .*\n\nOK/s),
    })
  })

  it('is completely typed', needs(installedProgram('mypy')), () => {
    const modules = [
      join(SDK, 'eyrie_element'),
      ...[join(SDK, 'tests'), EXAMPLE].flatMap(folder =>
        listModules(folder).map(name => join(folder, name)),
      ),
    ]
    const checked = run(SDK, 'mypy', '--strict', ...modules)
    expect(checked).toEqual({ status: 0, output: expect.stringContaining('no issues found') })
  })

  it('has the version of the SDK', () => {
    const [, version] =
      /^version = "(.*)"$/m.exec(readFileSync(join(SDK, 'pyproject.toml'), 'utf8')) ?? []
    expect(version).toBe(SDK_VERSION)
  })
})
