import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

const makefile = resolve(import.meta.dirname, '../../Makefile')

/**
 * Runs `make run` with a program that prints its variables and arguments, and with
 * an empty setup script.
 */
function runMake(variables: string[], environment: NodeJS.ProcessEnv = {}) {
  const folder = createTemporaryFolder()
  const setup = join(folder, 'appliance/setup')
  mkdirSync(setup, { recursive: true })
  writeFileSync(join(setup, 'setup.sh'), '#!/bin/sh\n')
  chmodSync(join(setup, 'setup.sh'), 0o755)
  const print = `sh -c 'printf "%s\\0" "$$SOURCE" "$$MODEL" "$$@"'`
  const makeArgs = ['--no-print-directory', '-f', makefile, 'run', `NODE=${print}`, ...variables]
  const env = { ...process.env, ...environment }
  const printed = execFileSync('make', makeArgs, { cwd: folder, env, encoding: 'utf8' })
  const [source, model, ...args] = printed.split('\0').slice(0, -1)
  return { source, model, args }
}

test.each([
  '/videos/entrance.mp4',
  '/videos/two words.mp4',
  "/videos/the neighbour's.mp4",
  '/videos/"front".mp4',
  '/videos/$HOME $$ $(MODEL) $MODEL `id`.mp4',
  '/videos/\\back;slash & more | #1 (*) ~é.mp4',
  'rtsp://viewer:p$ss@camera/stream?channel=1&subtype=0',
  '--obtain-worker',
])('make run passes %s unchanged as SOURCE and MODEL, and not as an argument', value => {
  const expected = { source: value, model: value, args: ['--obtain-worker'] }
  expect(runMake([`SOURCE=${value}`, `MODEL=${value}`])).toEqual(expected)
  expect(runMake([], { SOURCE: value, MODEL: value })).toEqual(expected)
})

test('make run without variables requests no source and no model', () => {
  expect(runMake([])).toEqual({ source: '', model: '', args: ['--obtain-worker'] })
})

test.each(['run', 'worker', 'sbom'])(
  'make %s installs the packages of the appliance, without those of the tests',
  target => {
    const commands = execFileSync('make', ['-n', '-f', makefile, target], { encoding: 'utf8' })
    expect(commands.match(/setup\.sh \w+/g)).toEqual(['setup.sh run'])
  },
)
