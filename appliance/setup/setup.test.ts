import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

/** Records a step of the setup in the checkout. `$ROOT` is its folder. */
const record = (step: string) => `echo ${step} >>"$ROOT/steps"`

/**
 * Programs of a machine on which all Debian packages are installed, each for two architectures.
 * `npm` fails if the variable `NPM_FAILS` is set, after it has removed the packages. If the
 * checkout contains a pipe named `gate`, it first waits for its end.
 */
const PROGRAMS: Record<string, string> = {
  // Prints nothing between the states, unless the format does.
  'dpkg-query': `case "$3" in *' ') echo 'installed installed ' ;; *) echo installedinstalled ;; esac`,
  'apt-cache': '',
  'apt-get': record('apt-get'),
  getent: '',
  id: 'echo video render',
  npm: `
    ${record('npm')}
    [ ! -p gate ] || cat gate
    rm -rf node_modules
    mkdir node_modules
    [ -z "$NPM_FAILS" ] || exit 1
    cp -r packages/. node_modules`,
}

/** A Node program that records a step and creates a file. */
const createBuilder = (step: string, result: string) => `
  const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
  appendFileSync(process.env.ROOT + '/steps', '${step}\\n')
  mkdirSync(require('node:path').dirname('${result}'), { recursive: true })
  writeFileSync('${result}', '')`

/** Files of a checkout, by path. `npm` installs the packages in `packages`. */
const FILES: Record<string, string> = {
  'package.json': '{}',
  'package-lock.json': '{}',
  'packages/drizzle-orm/package.json': '{ "exports": {} }',
  'packages/node-gyp/bin/node-gyp.js': createBuilder('addon', 'build/Release/node_gst.node'),
  'packages/vite/bin/vite.js': createBuilder('console', 'dist/index.html'),
  'console/main.ts': '',
  'sdk/contract/index.ts': '',
  'sdk/python/eyrie_element/__init__.py': '',
  'services/media/node-gst/binding.gyp': '',
  'services/media/node-gst/src/addon.cc': '',
  'services/kit/launcher/src/launcher.c': '',
  'services/kit/protection/src/protection.c': '',
  'services/kit/descriptors/src/descriptors.c': '',
  'services/kit/launcher/build.sh': `${record('launcher')}; cd "$(dirname "$0")"; mkdir -p build; touch build/eyrie-launcher`,
  'services/kit/build-addon.sh': `${record('$1')}; cd "$(dirname "$0")/$1"; mkdir -p build; touch build/$1.node`,
}

/** Creates a checkout, with programs for PATH in its folder `bin`. Returns its folder. */
function createCheckout(name = 'eyrie'): string {
  const root = join(createTemporaryFolder(), name)
  cpSync(import.meta.dirname, join(root, 'appliance/setup'), { recursive: true })
  for (const [path, text] of Object.entries(FILES)) write(join(root, path), text)
  for (const [program, body] of Object.entries(PROGRAMS)) write(join(root, 'bin', program), body)
  return root
}

function write(path: string, text: string): void {
  const isScript = path.endsWith('.sh') || dirname(path).endsWith('/bin')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, isScript && !path.endsWith('.js') ? `#!/bin/sh\n${text}\n` : text, {
    mode: 0o755,
  })
}

const getEnvironment = (root: string) => ({
  PATH: `${join(root, 'bin')}:${process.env.PATH}`,
  ROOT: root,
})

function readSteps(root: string): string[] {
  const file = join(root, 'steps')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** Runs the setup. Returns its exit code, its output, and the steps that it has taken. */
function runSetup(root: string, environment: NodeJS.ProcessEnv = {}) {
  rmSync(join(root, 'steps'), { force: true })
  const { status, stderr } = spawnSync(join(root, 'appliance/setup/setup.sh'), ['run'], {
    env: { ...getEnvironment(root), ...environment },
    encoding: 'utf8',
  })
  return { status, stderr, steps: readSteps(root) }
}

it('does nothing if everything is installed and built', () => {
  const root = createCheckout()
  const first = runSetup(root)
  expect(first.stderr).not.toContain('failed')
  expect(first.steps).toEqual(['npm', 'addon', 'launcher', 'protection', 'descriptors', 'console'])
  expect(runSetup(root)).toMatchObject({ status: 0, steps: [] })
})

it('installs the npm packages again when the previous release is back after a failed upgrade', () => {
  const root = createCheckout()
  const lockfile = join(root, 'package-lock.json')
  runSetup(root)
  writeFileSync(lockfile, '{ "version": 2 }')
  expect(runSetup(root, { NPM_FAILS: '1' })).toMatchObject({ status: 1, steps: ['npm'] })
  writeFileSync(lockfile, '{}')
  expect(runSetup(root)).toMatchObject({ status: 0, steps: expect.arrayContaining(['npm']) })
  expect(existsSync(join(root, 'node_modules/drizzle-orm'))).toBe(true)
})

it('builds the console again with changed npm packages', () => {
  const root = createCheckout()
  runSetup(root)
  writeFileSync(join(root, 'package-lock.json'), '{ "version": 2 }')
  expect(runSetup(root).steps).toEqual(['npm', 'console'])
})

it('rejects a path with a space before it installs anything', () => {
  const { status, stderr, steps } = runSetup(createCheckout('my eyrie'))
  expect(stderr).toContain('contains a space')
  expect({ status, steps }).toEqual({ status: 1, steps: [] })
})

it('waits for another setup of the checkout', async () => {
  const root = createCheckout()
  // npm waits until somebody writes to the pipe.
  execFileSync('mkfifo', [join(root, 'gate')])
  const start = () =>
    spawn(join(root, 'appliance/setup/setup.sh'), ['run'], {
      env: getEnvironment(root),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const first = start()
  const firstExit = once(first, 'exit')
  await expect.poll(() => readSteps(root)).toEqual(['npm'])
  const second = start()
  const secondExit = once(second, 'exit')
  const [output] = await once(second.stderr, 'data')
  expect(String(output)).toContain('waiting for another setup')
  writeFileSync(join(root, 'gate'), '')
  expect(await Promise.all([firstExit, secondExit])).toEqual([
    [0, null],
    [0, null],
  ])
  expect(readSteps(root).filter(step => step === 'npm')).toHaveLength(1)
})
