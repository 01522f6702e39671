import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'
import {
  type ArchiveEntry,
  createPluginEntries,
  createPluginPackage,
  createTar,
  createTarball,
} from '../../../test/fixtures/engine/plugin-package.ts'
import type { TestPlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { MESSAGE_SOCKET } from '../plugin-host/sandbox/process/process-descriptors.ts'

let data: string
let engine: Service
let call: CallEngine
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'eyrie-hostile-'))
  const engineSettings = { plugin_package_bytes: 256 << 10, plugin_unpacked_bytes: 1 << 20 }
  writeFileSync(join(data, 'eyrie.json'), JSON.stringify({ engine: engineSettings }))
  ;({ engine, call } = await startEngine(data))
})
afterAll(async () => {
  await engine.stop()
  rmSync(data, { recursive: true })
})

const gzip = { 'Content-Type': 'application/gzip' }
const upload = (body: unknown, headers = gzip) => call('POST', '/plugins', body, headers)

/** A valid plugin with additional entries. */
const withEntry = (...entries: ArchiveEntry[]) =>
  createTarball([...createPluginEntries({}), ...entries])
const probe = (rest: TestPlugin) => createPluginPackage({ name: 'probe', ...rest })
/** A valid plugin apart from the content of its module. */
const withModule = (content: string) =>
  createTarball(
    createPluginEntries({}).map(entry =>
      entry.name.endsWith('element.ts') ? { ...entry, content } : entry,
    ),
  )

/** A module that writes the value of an expression to the socket to the engine, without an end. */
const writeToEngine = (text: string) => `
  import { writeSync } from 'node:fs'
  for (;;) {
    try {
      writeSync(${MESSAGE_SOCKET}, ${text})
    } catch {
      // The engine has not read what was written before.
    }
  }`

/** A plugin that contains the file `model.onnx`, and describes a model with these fields. */
const withModel = (fields: object) => {
  const input = { name: 'x', layout: 'nchw', color: 'rgb', dtype: 'uint8', width: 8, height: 8 }
  const model = { name: 'model', file: 'model.onnx', sha256: '0'.repeat(64), input, ...fields }
  const capabilities = { inference: { own: [model] } } as never
  const file = { name: 'package/model.onnx', content: 'no model' }
  return createTarball([...createPluginEntries({ element: { capabilities } }), file])
}

describe('plugin upload rejects without a trace a package that', () => {
  const text = (name: string): ArchiveEntry => ({ name, content: 'hostile' })
  const cases: (readonly [
    problem: string,
    create: () => unknown,
    status: number,
    reason: RegExp,
  ])[] = [
    [
      'leaves its folder',
      () => withEntry(text('package/../../../evil')),
      400,
      /not a valid path inside/,
    ],
    [
      'leaves its folder in the first step',
      () => withEntry(text('../evil')),
      400,
      /not a valid path inside/,
    ],
    [
      'names an absolute path',
      () => withEntry(text('/tmp/eyrie-evil')),
      400,
      /not a valid path inside/,
    ],
    [
      'leaves its folder by backslashes',
      () => withEntry(text('package\\..\\evil')),
      400,
      /not a valid path inside/,
    ],
    [
      'has a control character in a name',
      () => withEntry(text('package/a\u001b[2J')),
      400,
      /not a valid path inside/,
    ],
    [
      'has a name that is too long',
      () => withEntry(text(`package/${'a'.repeat(300)}`)),
      400,
      /too long or too deep/,
    ],
    [
      'nests too deep',
      () => withEntry(text(`package/${'a/'.repeat(40)}b`)),
      400,
      /too long or too deep/,
    ],
    [
      'contains a symbolic link',
      () => withEntry({ name: 'package/link', type: 'symlink', linkname: '/etc/passwd' }),
      400,
      /is a symlink/,
    ],
    [
      'contains a hard link',
      () => withEntry({ name: 'package/link', type: 'link', linkname: '/etc/passwd' }),
      400,
      /is a link/,
    ],
    [
      'contains a device',
      () => withEntry({ name: 'package/tty', type: 'character-device' }),
      400,
      /-device/,
    ],
    ['contains a pipe', () => withEntry({ name: 'package/pipe', type: 'fifo' }), 400, /is a fifo/],
    [
      'contains a file twice',
      () => withEntry(text('package/a'), text('package/./a')),
      400,
      /two entries with the same name/,
    ],
    [
      'contains a file and a folder with the same path',
      () => withEntry(text('package/a'), text('package/a/b')),
      400,
      /with the same name/,
    ],
    [
      'expands beyond the limit',
      () => withEntry({ name: 'package/bomb', content: Buffer.alloc(8 << 20) }),
      413,
      /larger than 1\.0 MB/,
    ],
    ['is too large', () => new Uint8Array(300 << 10), 413, /larger than 262144 bytes/],
    ['is empty', () => new Uint8Array(), 400, /not a complete gzipped tar/],
    ['is not gzip', () => new TextEncoder().encode('plugin'), 400, /not a complete gzipped tar/],
    [
      'is not tar',
      () => new Uint8Array(gzipSync('plugin'.repeat(200))),
      400,
      /not a complete gzipped tar/,
    ],
    [
      'is truncated',
      async () => (await createPluginPackage({ open: `/* ${'x'.repeat(4000)} */` })).slice(0, -60),
      400,
      /not a complete gzipped tar/,
    ],
    [
      'ends in the middle of a file',
      async () =>
        new Uint8Array(gzipSync((await createTar(createPluginEntries({}))).subarray(0, 700))),
      400,
      /not a complete gzipped tar/,
    ],
    ['has no manifest', () => createTarball([text('package/element.ts')]), 400, /no plugin.json/],
    [
      'contains another model than its manifest describes',
      () => withModel({ license: 'MIT' }),
      400,
      /^\/elements\/0\/capabilities\/inference\/own\/0\/sha256: model\.onnx has the SHA-256 [0-9a-f]{64}, not/,
    ],
    [
      'contains a model without a licence',
      () => withModel({}),
      400,
      /^\/elements\/0\/capabilities\/inference\/own\/0\/license: is required/,
    ],
    [
      'has a manifest that is not JSON',
      () => createTarball([text('package/plugin.json')]),
      400,
      /plugin\.json is not valid JSON/,
    ],
    [
      'has an entry point that does not exist',
      () => probe({ manifest: { entry: 'other.ts' } }),
      400,
      /^\/entry: other\.ts does not exist next to plugin\.json$/,
    ],
    [
      'requires another SDK version',
      () => probe({ manifest: { sdk: 2 } }),
      400,
      /this engine has 1/,
    ],
    ['has no semantic version', () => probe({ version: '1.0' }), 400, /^\/version: /],
    [
      'has a version that is a path',
      () => probe({ version: '1.0.0-../../x' }),
      400,
      /^\/version: /,
    ],
    [
      'has a name that is a path',
      () => probe({ manifest: { name: '../probe' } }),
      400,
      /^\/name: /,
    ],
    [
      'has an entry outside',
      () => probe({ manifest: { entry: '../../engine.ts' } }),
      400,
      /^\/entry: /,
    ],
    [
      'has unknown fields in the manifest',
      () => probe({ manifest: { postinstall: 'rm' } }),
      400,
      /postinstall/,
    ],
    ...(['params', 'config', 'input', 'output'] as const).map(
      part =>
        [
          `has an invalid ${part} schema`,
          () => probe({ element: { [`${part}_schema`]: { type: 'nonsense' } } }),
          400,
          /schema is invalid/,
        ] as const,
    ),
    [
      'requires a capability of built-in elements',
      () => probe({ element: { needs: ['inference'] } }),
      400,
      /needs inference/,
    ],
    ['does not parse', () => withModule('export default {'), 400, /failed to load/],
    [
      'exports nothing',
      () => withModule('export const a = 1'),
      400,
      /default export of element\.ts has no element "probe"/,
    ],
    [
      'has an element without open',
      () => withModule('export default { probe: 1 }'),
      400,
      /no function open/,
    ],
    [
      'never finishes loading',
      () => withModule('await new Promise(() => setInterval(() => {}, 1000))'),
      400,
      /loading takes longer than 25 s/,
    ],
    [
      'computes without end while it is loaded',
      () => withModule('for (;;);'),
      400,
      // On a busy machine, the process may not get 10 s of CPU time in 25 s.
      /ended by SIGKILL while loading: .* CPU time|loading takes longer than 25 s/,
    ],
    [
      'reads files while it is loaded',
      () => withModule(`import { readFileSync } from 'node:fs'\nreadFileSync('/etc/passwd')`),
      400,
      /Access to this API has been restricted/,
    ],
    [
      'starts a process while it is loaded',
      () => withModule(`import { execSync } from 'node:child_process'\nexecSync('id')`),
      400,
      /Access to this API has been restricted/,
    ],
    [
      'exits the process while it is loaded',
      () => withModule('process.exit(0)'),
      400,
      /exited with code/,
    ],
    [
      'aborts the process while it is loaded, as V8 does without memory',
      () => withModule('process.abort()'),
      400,
      /ended by SIGABRT while loading: it may use too much memory/,
    ],
    [
      'sends a forged result',
      () => withModule(writeToEngine(`'{"problem":7}\\n'`)),
      400,
      /sent an unexpected message/,
    ],
    [
      'sends a result that is not JSON',
      () => withModule(writeToEngine(`'problem\\n'`)),
      400,
      /sent an unexpected message/,
    ],
    [
      'sends a result without an end',
      () => withModule(writeToEngine(`'x'.repeat(1000)`)),
      400,
      /sent a message that is too long/,
    ],
    [
      'has an element of another plugin',
      () => probe({ element: { name: 'motion' }, manifest: { name: 'thief' } }),
      409,
      /plugin motion already has an element motion/,
    ],
  ]
  test.each(cases)(
    '%s',
    async (_, create, status, reason) => {
      const before = (await call('GET', '/plugins')).body
      const answer = await upload(await create())
      expect([answer.status, answer.body.reason]).toEqual([status, expect.stringMatching(reason)])
      expect((await call('GET', '/plugins')).body).toEqual(before)
      expect(readdirSync(join(data, 'plugins'))).toEqual([])
      expect(
        [join(data, 'evil'), join(data, 'plugins/evil'), '/tmp/eyrie-evil'].filter(existsSync),
      ).toEqual([])
    },
    60_000,
  )
})

describe('plugin upload inspects a package that, while it is loaded,', () => {
  /** Uploads a package that runs the statement and reports its error as the problem of loading. */
  const reasonOf = async (statement: string) =>
    (await upload(await withModule(statement))).body.reason

  it('opens a connection, without reaching the server', async () => {
    const { port, connections } = await startTcpServer()
    const module = `import { connect } from 'node:net'
      await new Promise((done, fail) => connect(${port}, '127.0.0.1').on('connect', done).on('error', fail))`
    expect(await reasonOf(module)).toMatch(/failed to load .*connect EPERM 127\.0\.0\.1/)
    expect(connections).toEqual([])
  })

  it('kills a process, without ending it', async () => {
    const victim = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void victim.kill('SIGKILL'))
    expect(await reasonOf(`process.kill(${victim.pid}, 'SIGKILL')`)).toMatch(
      /failed to load .*kill EPERM/,
    )
    expect(victim.exitCode ?? victim.signalCode).toBe(null)
  })
})

test('plugin upload rejects a content type other than gzip', async () => {
  const answer = await upload({ name: 'probe' }, { 'Content-Type': 'application/json' })
  expect([answer.status, answer.body]).toEqual([
    415,
    { code: 'type', reason: expect.stringMatching(/send Content-Type: application\/gzip/) },
  ])
})

test('a schema with catastrophic backtracking is aborted without blocking the engine', async () => {
  const paramsSchema = {
    type: 'object',
    properties: { word: { type: 'string', pattern: '^(a+)+$' } },
  }
  expect(
    (
      await upload(
        await createPluginPackage({ name: 'slow', element: { params_schema: paramsSchema } }),
      )
    ).status,
  ).toBe(201)
  const elements = [{ name: 'slow', args: { word: `${'a'.repeat(60)}b` } }]
  const answer = await call('POST', '/pipelines', { elements })
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      code: 'syntax',
      reason: "/elements/0/args: the element's schema takes too long to check this",
    },
  ])
})
