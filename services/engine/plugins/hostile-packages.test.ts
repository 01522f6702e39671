import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Call, startEngine } from '../../../test/fixtures/engine.ts'
import { type Entry, entriesOf, packageOf, tarOf, tgzOf } from '../../../test/fixtures/package.ts'
import type { TestPlugin } from '../../../test/fixtures/plugin.ts'

let data: string
let engine: Service
let call: Call
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

/** A sound plugin and something besides. */
const withEntry = (...more: Entry[]) => tgzOf([...entriesOf({}), ...more])
const probe = (rest: TestPlugin) => packageOf({ name: 'probe', ...rest })
/** A sound plugin whose module is this. */
const withModule = (content: string) =>
  tgzOf(entriesOf({}).map(entry => (entry.name.endsWith('element.ts') ? { ...entry, content } : entry)))

describe('a package is refused, and nothing of it kept, that', () => {
  const text = (name: string): Entry => ({ name, content: 'hostile' })
  const cases: (readonly [what: string, make: () => unknown, status: number, reason: RegExp])[] = [
    ['climbs out of its folder', () => withEntry(text('package/../../../evil')), 400, /no name inside/],
    ['climbs out by its first step', () => withEntry(text('../evil')), 400, /no name inside/],
    ['names an absolute path', () => withEntry(text('/tmp/eyrie-evil')), 400, /no name inside/],
    ['climbs out by backslashes', () => withEntry(text('package\\..\\evil')), 400, /no name inside/],
    ['has a control character in a name', () => withEntry(text('package/a\u001b[2J')), 400, /no name inside/],
    [
      'has a name that is too long',
      () => withEntry(text(`package/${'a'.repeat(300)}`)),
      400,
      /too long or too deep/,
    ],
    ['nests too deep', () => withEntry(text(`package/${'a/'.repeat(40)}b`)), 400, /too long or too deep/],
    [
      'holds a symbolic link',
      () => withEntry({ name: 'package/link', type: 'symlink', linkname: '/etc/passwd' }),
      400,
      /is a symlink/,
    ],
    [
      'holds a hard link',
      () => withEntry({ name: 'package/link', type: 'link', linkname: '/etc/passwd' }),
      400,
      /is a link/,
    ],
    ['holds a device', () => withEntry({ name: 'package/tty', type: 'character-device' }), 400, /-device/],
    ['holds a pipe', () => withEntry({ name: 'package/pipe', type: 'fifo' }), 400, /is a fifo/],
    [
      'has a file twice',
      () => withEntry(text('package/a'), text('package/./a')),
      400,
      /two things of one name/,
    ],
    ['has a file for a folder', () => withEntry(text('package/a'), text('package/a/b')), 400, /of one name/],
    [
      'swells to more than is allowed',
      () => withEntry({ name: 'package/bomb', content: Buffer.alloc(8 << 20) }),
      413,
      /more than 1048576 bytes once unpacked/,
    ],
    ['is too large', () => new Uint8Array(300 << 10), 413, /larger than 262144 bytes/],
    ['is empty', () => new Uint8Array(), 400, /no whole gzipped tar/],
    ['is no gzip', () => new TextEncoder().encode('plugin'), 400, /no whole gzipped tar/],
    ['is no tar', () => new Uint8Array(gzipSync('plugin'.repeat(200))), 400, /no whole gzipped tar/],
    [
      'is cut off',
      async () => (await packageOf({ open: `/* ${'x'.repeat(4000)} */` })).slice(0, -60),
      400,
      /no whole gzipped tar/,
    ],
    [
      'ends in the middle of a file',
      async () => new Uint8Array(gzipSync((await tarOf(entriesOf({}))).subarray(0, 700))),
      400,
      /no whole gzipped tar/,
    ],
    ['has no manifest', () => tgzOf([text('package/element.ts')]), 400, /no plugin.json/],
    [
      'has a manifest that is no JSON',
      () => tgzOf([text('package/plugin.json')]),
      400,
      /plugin\.json is not valid JSON/,
    ],
    [
      'has an entry that is missing',
      () => probe({ manifest: { entry: 'other.ts' } }),
      400,
      /^\/entry: other\.ts does not exist beside plugin\.json$/,
    ],
    ['is of another SDK', () => probe({ manifest: { sdk: 2 } }), 400, /this engine has 1/],
    ['has no semantic version', () => probe({ version: '1.0' }), 400, /^\/version: /],
    ['has a version that is a path', () => probe({ version: '1.0.0-../../x' }), 400, /^\/version: /],
    ['has a name that is a path', () => probe({ manifest: { name: '../probe' } }), 400, /^\/name: /],
    ['has an entry outside', () => probe({ manifest: { entry: '../../engine.ts' } }), 400, /^\/entry: /],
    ['has fields that there are not', () => probe({ manifest: { postinstall: 'rm' } }), 400, /postinstall/],
    ...(['params', 'config', 'input', 'output'] as const).map(
      part =>
        [
          `has a schema of its ${part} that is none`,
          () => probe({ element: { [`${part}_schema`]: { type: 'nonsense' } } }),
          400,
          /schema is invalid/,
        ] as const,
    ),
    [
      'asks for what built-in elements alone are granted',
      () => probe({ element: { needs: ['inference'] } }),
      400,
      /needs inference/,
    ],
    ['does not parse', () => withModule('export default {'), 400, /do not load/],
    [
      'exports nothing',
      () => withModule('export const a = 1'),
      400,
      /default export of element\.ts has no element "probe"/,
    ],
    [
      'has an element that opens nothing',
      () => withModule('export default { probe: 1 }'),
      400,
      /no function open/,
    ],
    ['never ends loading', () => withModule('for (;;);'), 400, /did not load within 10 s/],
    [
      'reads files when it is loaded',
      () => withModule(`import { readFileSync } from 'node:fs'\nreadFileSync('/etc/passwd')`),
      400,
      /Access to this API has been restricted/,
    ],
    [
      'starts a process when it is loaded',
      () => withModule(`import { execSync } from 'node:child_process'\nexecSync('id')`),
      400,
      /Access to this API has been restricted/,
    ],
    ['ends the process when it is loaded', () => withModule('process.exit(0)'), 400, /ended the process/],
    [
      'answers in the place of the engine',
      () => withModule('process.send({ problem: 7 })\nawait new Promise(() => {})'),
      400,
      /answers in place of the engine/,
    ],
    [
      'has an element of another plugin',
      () => probe({ element: { name: 'motion' }, manifest: { name: 'thief' } }),
      409,
      /plugin motion has an element motion already/,
    ],
  ]
  test.each(cases)(
    '%s',
    async (_, make, status, reason) => {
      const before = (await call('GET', '/plugins')).body
      const answer = await upload(await make())
      expect([answer.status, answer.body.reason]).toEqual([status, expect.stringMatching(reason)])
      expect((await call('GET', '/plugins')).body).toEqual(before)
      expect(readdirSync(join(data, 'plugins'))).toEqual([])
      expect([join(data, 'evil'), join(data, 'plugins/evil'), '/tmp/eyrie-evil'].filter(existsSync)).toEqual(
        [],
      )
    },
    30_000,
  )
})

test('a package of another type than gzip is refused by its type', async () => {
  const answer = await upload({ name: 'probe' }, { 'Content-Type': 'application/json' })
  expect([answer.status, answer.body]).toEqual([
    415,
    { code: 'type', reason: expect.stringMatching(/send Content-Type: application\/gzip/) },
  ])
})

test('a schema whose patterns never end costs the engine a moment, not its thread', async () => {
  const params_schema = { type: 'object', properties: { word: { type: 'string', pattern: '^(a+)+$' } } }
  expect((await upload(await packageOf({ name: 'slow', element: { params_schema } }))).status).toBe(201)
  const elements = [{ name: 'slow', args: { word: `${'a'.repeat(60)}b` } }]
  const answer = await call('POST', '/pipelines', { elements })
  expect([answer.status, answer.body]).toEqual([
    400,
    { code: 'syntax', reason: "/elements/0/args: the element's schema takes too long to check this" },
  ])
})
