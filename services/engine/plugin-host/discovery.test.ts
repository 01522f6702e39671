import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { discoverPlugins } from './discovery.ts'

let folder: string
let logged: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-plugins-'))
  logged = []
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Discovers plugins and collects log entries in `logged`. */
function discover(...folders: string[]) {
  const record = (fields: object) => void logged.push(JSON.stringify(fields))
  const log = { debug: record, info: record, warn: record, error: record }
  const paths = folders.length > 0 ? folders : [folder]
  return discoverPlugins(
    paths.map(path => ({ path, origin: 'folder' })),
    log,
  )
}

describe('plugin discovery', () => {
  it("finds the elements of each plugin with their plugin's name and version", () => {
    writePlugin(folder, { name: 'count', version: '1.2.3' })
    const [plugin] = discover()
    expect(plugin).toMatchObject({ name: 'count', version: '1.2.3', origin: 'folder' })
    expect(plugin?.elements).toMatchObject([
      { plugin: { name: 'count', version: '1.2.3' }, entry: join(folder, 'count/element.ts') },
    ])
    expect(logged).toEqual([])
  })

  it('ignores a missing folder and folders without a plugin', () => {
    mkdirSync(join(folder, 'notes'))
    expect(discover(folder, join(folder, 'missing'))).toEqual([])
    expect(logged).toEqual([])
  })

  it.each([
    ['is not valid JSON', () => writeFileSync(join(folder, 'broken/plugin.json'), '{'), 'JSON'],
    [
      'lacks all',
      () => writeFileSync(join(folder, 'broken/plugin.json'), '{}'),
      '/sdk: is required',
    ],
    [
      'is of another SDK',
      () => writePlugin(folder, { name: 'broken', manifest: { sdk: 2 } }),
      'version 2 of the element SDK; this engine has 1',
    ],
    [
      'names no module that exists',
      () => writePlugin(folder, { name: 'broken', manifest: { entry: 'other.ts' } }),
      'other.ts does not exist',
    ],
    [
      'has a schema that is none',
      () =>
        writePlugin(folder, { name: 'broken', element: { params_schema: { type: 'nonsense' } } }),
      'schema is invalid',
    ],
    [
      'wants pixels on the main thread',
      () => writePlugin(folder, { name: 'broken', element: { needs: ['pixels'] } }),
      'must say \\"runs\\": \\"worker\\"',
    ],
  ])('skips a plugin whose manifest %s, and loads the others', (_, write, reason) => {
    mkdirSync(join(folder, 'broken'))
    write()
    writePlugin(folder, { name: 'count' })
    expect(discover().map(({ name }) => name)).toEqual(['count'])
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain(join(folder, 'broken'))
    expect(logged[0]).toContain(reason)
  })

  it('uses the first of duplicate versions and logs a warning', () => {
    writePlugin(join(folder, 'mine'), { name: 'count', version: '2.0.0' })
    writePlugin(join(folder, 'theirs'), { name: 'count', version: '2.0.0' })
    writePlugin(join(folder, 'older'), { name: 'count', version: '1.0.0' })
    const found = discover(...['mine', 'theirs', 'older'].map(name => join(folder, name)))
    expect(found.map(({ version, folder }) => [version, folder])).toEqual([
      ['2.0.0', join(folder, 'mine/count')],
      ['1.0.0', join(folder, 'older/count')],
    ])
    expect(logged).toHaveLength(1)
  })

  it('runs only built-in elements that request it on the main thread, and uploaded ones in processes', () => {
    writePlugin(folder, { name: 'count', element: { runs: 'inline' } })
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const hosts = (['built-in', 'folder', 'uploaded'] as const).map(
      origin => discoverPlugins([{ path: folder, origin }], log)[0]?.elements[0]?.host,
    )
    expect(hosts).toEqual(['inline', 'thread', 'process'])
  })
})
