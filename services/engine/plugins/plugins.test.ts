import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorBody } from '@eyrie/contract'
import type { Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'
import {
  createPluginEntries,
  createPluginPackage,
  createTarball,
} from '../../../test/fixtures/engine/plugin-package.ts'
import type { TestPlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { openElementThread } from '../plugin-host/thread/thread-element.ts'

let data: string
let engine: Service
let call: CallEngine
const start = async () => {
  ;({ engine, call } = await startEngine(data, { EYRIE_LICENSE: 'community' }))
}
beforeEach(async () => {
  data = createTemporaryFolder()
  await start()
})
afterEach(() => engine.stop())

const upload = async (plugin: TestPlugin, type = 'application/gzip') =>
  call('POST', '/plugins', await createPluginPackage(plugin), { 'Content-Type': type })
const use = (name: string, version: string) => call('PUT', `/plugins/${name}`, { version })
const pipeline = (...elements: object[]) => call('POST', '/pipelines', { elements })
const withLimit = (maximum: number) => ({
  params_schema: { type: 'object', properties: { limit: { type: 'integer', maximum } } },
})

/** The version of an element in the catalog; undefined if the catalog does not have it. */
async function findCatalogVersion(name: string): Promise<string | undefined> {
  const { elements } = (await call('GET', '/catalog?filter=elements')).body
  return elements.find((element: { name: string }) => element.name === name)?.version
}

describe('plugin upload', () => {
  it.each(['application/gzip', 'application/octet-stream'])(
    'as %s adds the elements to the catalog immediately',
    async type => {
      const added = await upload({ element: withLimit(3) }, type)
      expect([added.status, added.headers.get('Location')]).toEqual([201, '/api/v3/plugins/probe'])
      const version = {
        version: '1.0.0',
        origin: 'uploaded',
        license: 'Apache-2.0',
        signature: { state: 'unsigned' },
        elements: ['probe'],
      }
      expect(added.body).toEqual({ name: 'probe', active: '1.0.0', versions: [version] })
      expect((await call('GET', '/plugins/probe')).body).toEqual(added.body)
      expect((await call('GET', '/plugins')).body).toContainEqual(added.body)
      expect(await findCatalogVersion('probe')).toBe('1.0.0')
      expect((await pipeline({ name: 'probe', args: { limit: 3 } })).status).toBe(201)
      expect((await pipeline({ name: 'probe', args: { limit: 4 } })).body.reason).toMatch(
        /args\/limit/,
      )
    },
  )

  it('loads a plugin that imports the SDK and its own files', async () => {
    const described = createPluginEntries({ name: 'crowd' }).find(({ name }) =>
      name.endsWith('plugin.json'),
    )
    const files = [
      { name: 'package/plugin.json', content: described!.content! },
      { name: 'package/lib/limit.ts', content: 'export const limit: number = 3' },
      {
        name: 'package/element.ts',
        content: `
          import { defineElement, definePlugin, z } from '@eyrie/element'
          import { limit } from './lib/limit.ts'
          const args = z.strictObject({ limit: z.int().default(limit) })
          export default definePlugin({
            crowd: defineElement({ args, open: () => ({ process: () => ({}) }) }),
          })`,
      },
    ]
    const gzip = { 'Content-Type': 'application/gzip' }
    expect(await call('POST', '/plugins', await createTarball(files), gzip)).toMatchObject({
      status: 201,
    })
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const element = await openElementThread({
      source: {
        entry: join(data, 'plugins/crowd/1.0.0/element.ts'),
        name: 'crowd',
        setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
      },
      needsPixels: false,
      findRing: () => undefined,
      log,
    })
    element.close?.()
  })

  it('ignores an identical version and rejects a version with different content', async () => {
    const first = await upload({})
    const again = await upload({})
    expect([again.status, again.body]).toEqual([200, first.body])
    const other = await upload({ open: 'return { process: () => ({ events: [] }) }' })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
    expect(errorBody.safeParse(other.body).success).toBe(true)
  })

  it('keeps the first version active until another version is selected', async () => {
    await upload({})
    expect(await upload({ version: '2.0.0' })).toMatchObject({
      status: 201,
      body: { active: '1.0.0', versions: [{ version: '2.0.0' }, { version: '1.0.0' }] },
    })
    expect(await findCatalogVersion('probe')).toBe('1.0.0')
    expect(await use('probe', '2.0.0')).toMatchObject({ status: 200, body: { active: '2.0.0' } })
    expect(await findCatalogVersion('probe')).toBe('2.0.0')
    expect((await use('probe', '1.0.0')).body.active).toBe('1.0.0')
    expect(await findCatalogVersion('probe')).toBe('1.0.0')
  })

  it('restores uploaded plugins and the selected version after a restart', async () => {
    await upload({})
    await upload({ version: '1.1.0-rc.1' })
    await use('probe', '1.1.0-rc.1')
    const before = (await call('GET', '/plugins')).body
    await engine.stop()
    await start()
    expect((await call('GET', '/plugins')).body).toEqual(before)
    expect(await findCatalogVersion('probe')).toBe('1.1.0-rc.1')
  })

  it('can replace a built-in plugin, which becomes active again after the upload is deleted', async () => {
    const [motion] = (await call('GET', '/plugins/motion')).body.versions
    expect(motion).toMatchObject({ version: '1.0.0', origin: 'built-in' })
    expect((await call('DELETE', '/plugins/motion/1.0.0')).body.code).toBe('conflict')
    await upload({ name: 'motion', version: '1.5.0' })
    expect(await findCatalogVersion('motion')).toBe('1.0.0')
    await use('motion', '1.5.0')
    expect(await findCatalogVersion('motion')).toBe('1.5.0')
    expect((await call('DELETE', '/plugins/motion/1.5.0')).status).toBe(204)
    expect(await findCatalogVersion('motion')).toBe('1.0.0')
  })
})

describe('plugin version switch', () => {
  it('is rejected with the pipelines that are incompatible with the version', async () => {
    await upload({ element: withLimit(9) })
    await upload({ version: '2.0.0', element: withLimit(3) })
    const wide = (await pipeline({ name: 'probe', args: { limit: 9 } })).body.id
    await pipeline({ name: 'probe', args: { limit: 2 } })
    const refused = await use('probe', '2.0.0')
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'reference', value: { pipelines: [wide] } },
    })
    expect(refused.body.reason).toContain(`/pipelines/${wide}/elements/0/args/limit: must be <= 3`)
    expect(await findCatalogVersion('probe')).toBe('1.0.0')
    await call('PUT', `/pipelines/${wide}`, { elements: [{ name: 'probe', args: { limit: 1 } }] })
    expect((await use('probe', '2.0.0')).status).toBe(200)
  })

  it('is rejected if the version lacks an element that a pipeline uses', async () => {
    await upload({})
    await upload({ version: '2.0.0', element: { name: 'other' } })
    const { id } = (await pipeline({ name: 'probe' })).body
    expect((await use('probe', '2.0.0')).body).toMatchObject({
      code: 'reference',
      reason: expect.stringContaining(`/pipelines/${id}/elements/0/name: unknown element probe`),
    })
  })

  it('leaves a valid configuration when a pipeline is created at the same time', async () => {
    await upload({ element: withLimit(9) })
    await upload({ version: '2.0.0', element: withLimit(3) })
    const [switched, created] = await Promise.all([
      use('probe', '2.0.0'),
      pipeline({ name: 'probe', args: { limit: 9 } }),
    ])
    const outcome = [switched.status, created.status].join()
    expect(['200,400', '409,201']).toContain(outcome)
    expect(await findCatalogVersion('probe')).toBe(outcome === '200,400' ? '2.0.0' : '1.0.0')
  })

  it('is rejected for an unknown version, with a list of the available versions', async () => {
    await upload({})
    expect((await use('probe', '2.0.0')).body).toEqual({
      code: 'id',
      reason: 'plugin probe has no version 2.0.0; available: 1.0.0',
    })
    for (const path of ['/plugins/nothing', '/plugins/UPPER', '/plugins/..%2fprobe']) {
      expect(await call('PUT', path, { version: '1.0.0' })).toMatchObject({
        status: 404,
        body: { code: 'id' },
      })
    }
    expect((await use('probe', 'newest')).body.code).toBe('syntax')
  })

  it('honours If-Match', async () => {
    const tag = (await upload({})).headers.get('ETag')!
    await upload({ version: '2.0.0' })
    const stale = await call('PUT', '/plugins/probe', { version: '2.0.0' }, { 'If-Match': tag })
    expect([stale.status, stale.body.code]).toEqual([412, 'precondition'])
    const now = (await call('GET', '/plugins/probe')).headers.get('ETag')!
    expect(
      (await call('PUT', '/plugins/probe', { version: '2.0.0' }, { 'If-Match': now })).status,
    ).toBe(200)
  })
})

describe('plugin deletion', () => {
  it('removes the version from the disk and the catalog', async () => {
    await upload({})
    expect((await call('DELETE', '/plugins/probe/1.0.0')).status).toBe(204)
    expect((await call('GET', '/plugins/probe')).status).toBe(404)
    expect(await findCatalogVersion('probe')).toBeUndefined()
    expect(existsSync(join(data, 'plugins/probe/1.0.0'))).toBe(false)
    expect(readdirSync(join(data, 'plugins')).filter(name => name.startsWith('.'))).toEqual([])
    expect((await call('DELETE', '/plugins/probe/1.0.0')).body.code).toBe('id')
  })

  it('is rejected while pipelines use the version', async () => {
    await upload({})
    await upload({ version: '2.0.0' })
    const { id } = (await pipeline({ name: 'probe' })).body
    expect((await call('DELETE', '/plugins/probe/1.0.0')).body).toEqual({
      code: 'reference',
      reason: `pipelines ${id} use version 1.0.0 of probe: change them or select another version first`,
      value: { pipelines: [id] },
    })
    expect((await call('DELETE', '/plugins/probe/2.0.0')).status).toBe(204)
    expect((await call('GET', '/plugins/probe')).body.active).toBe('1.0.0')
  })

  it('allows the version to be uploaded again with different content', async () => {
    await upload({})
    await call('DELETE', '/plugins/probe/1.0.0')
    const open = 'return { process: () => ({ events: [] }) }'
    expect((await upload({ open })).status).toBe(201)
    expect(readFileSync(join(data, 'plugins/probe/1.0.0/element.ts'), 'utf8')).toContain(open)
  })
})

it('deletes the draft of an interrupted upload at start', async () => {
  await upload({})
  await engine.stop()
  mkdirSync(join(data, 'plugins/.draft-1/package'), { recursive: true })
  mkdirSync(join(data, 'plugins/broken/1.0.0'), { recursive: true })
  writeFileSync(join(data, 'plugins/broken/1.0.0/plugin.json'), '{')
  writeFileSync(join(data, 'plugins/active.json'), '{"probe":')
  await start()
  expect(await findCatalogVersion('probe')).toBe('1.0.0')
  expect(existsSync(join(data, 'plugins/.draft-1'))).toBe(false)
  expect((await upload({ name: 'broken' })).status).toBe(201)
})
