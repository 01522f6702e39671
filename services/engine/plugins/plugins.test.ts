import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorBody } from '@eyrie/contract'
import type { Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Call, startEngine } from '../../../test/fixtures/engine.ts'
import { entriesOf, packageOf, tgzOf } from '../../../test/fixtures/package.ts'
import type { TestPlugin } from '../../../test/fixtures/plugin.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { openElementThread } from '../plugin-host/worker-element.ts'

let data: string
let engine: Service
let call: Call
const start = async () => {
  ;({ engine, call } = await startEngine(data, { EYRIE_LICENSE: 'community' }))
}
beforeEach(async () => {
  data = temporaryFolder()
  await start()
})
afterEach(() => engine.stop())

const upload = async (plugin: TestPlugin, type = 'application/gzip') =>
  call('POST', '/plugins', await packageOf(plugin), { 'Content-Type': type })
const use = (name: string, version: string) => call('PUT', `/plugins/${name}`, { version })
const pipeline = (...elements: object[]) => call('POST', '/pipelines', { elements })
const limitOf = (most: number) => ({
  params_schema: { type: 'object', properties: { limit: { type: 'integer', maximum: most } } },
})

/** The version of an element in the catalog; undefined if it is not there. */
async function inCatalog(name: string): Promise<string | undefined> {
  const { elements } = (await call('GET', '/catalog?filter=elements')).body
  return elements.find((element: { name: string }) => element.name === name)?.version
}

describe('a plugin that is uploaded', () => {
  it.each(['application/gzip', 'application/octet-stream'])(
    'as %s is in the catalog at once, and pipelines can be made of it',
    async type => {
      const added = await upload({ element: limitOf(3) }, type)
      expect([added.status, added.headers.get('Location')]).toEqual([201, '/api/v3/plugins/probe'])
      const version = { version: '1.0.0', origin: 'uploaded', license: 'Apache-2.0', elements: ['probe'] }
      expect(added.body).toEqual({ name: 'probe', active: '1.0.0', versions: [version] })
      expect((await call('GET', '/plugins/probe')).body).toEqual(added.body)
      expect((await call('GET', '/plugins')).body).toContainEqual(added.body)
      expect(await inCatalog('probe')).toBe('1.0.0')
      expect((await pipeline({ name: 'probe', args: { limit: 3 } })).status).toBe(201)
      expect((await pipeline({ name: 'probe', args: { limit: 4 } })).body.reason).toMatch(/args\/limit/)
    },
  )

  it('imports the SDK and files of its own, wherever the data lie', async () => {
    const described = entriesOf({ name: 'crowd' }).find(({ name }) => name.endsWith('plugin.json'))
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
    expect(await call('POST', '/plugins', await tgzOf(files), gzip)).toMatchObject({ status: 201 })
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const element = await openElementThread({
      data: {
        entry: join(data, 'plugins/crowd/1.0.0/element.ts'),
        name: 'crowd',
        setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
      },
      pixels: false,
      findRing: () => undefined,
      onCost: () => {},
      log,
    })
    element.close?.()
  })

  it('once more changes nothing; with other content under the same version it is refused', async () => {
    const first = await upload({})
    const again = await upload({})
    expect([again.status, again.body]).toEqual([200, first.body])
    const other = await upload({ open: 'return { process: () => ({ events: [] }) }' })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
    expect(errorBody.safeParse(other.body).success).toBe(true)
  })

  it('in a second version stands beside the first until it is switched to, and back', async () => {
    await upload({})
    expect(await upload({ version: '2.0.0' })).toMatchObject({
      status: 201,
      body: { active: '1.0.0', versions: [{ version: '2.0.0' }, { version: '1.0.0' }] },
    })
    expect(await inCatalog('probe')).toBe('1.0.0')
    expect(await use('probe', '2.0.0')).toMatchObject({ status: 200, body: { active: '2.0.0' } })
    expect(await inCatalog('probe')).toBe('2.0.0')
    expect((await use('probe', '1.0.0')).body.active).toBe('1.0.0')
    expect(await inCatalog('probe')).toBe('1.0.0')
  })

  it('is there after a restart, in the version that was chosen', async () => {
    await upload({})
    await upload({ version: '1.1.0-rc.1' })
    await use('probe', '1.1.0-rc.1')
    const before = (await call('GET', '/plugins')).body
    await engine.stop()
    await start()
    expect((await call('GET', '/plugins')).body).toEqual(before)
    expect(await inCatalog('probe')).toBe('1.1.0-rc.1')
  })

  it('can take the place of what is built in, which cannot be deleted and comes back', async () => {
    const [motion] = (await call('GET', '/plugins/motion')).body.versions
    expect(motion).toMatchObject({ version: '1.0.0', origin: 'built-in' })
    expect((await call('DELETE', '/plugins/motion/1.0.0')).body.code).toBe('conflict')
    await upload({ name: 'motion', version: '1.5.0' })
    expect(await inCatalog('motion')).toBe('1.0.0')
    await use('motion', '1.5.0')
    expect(await inCatalog('motion')).toBe('1.5.0')
    expect((await call('DELETE', '/plugins/motion/1.5.0')).status).toBe(204)
    expect(await inCatalog('motion')).toBe('1.0.0')
  })
})

describe('a switch', () => {
  it('is refused as a whole where pipelines would not fit, naming them', async () => {
    await upload({ element: limitOf(9) })
    await upload({ version: '2.0.0', element: limitOf(3) })
    const wide = (await pipeline({ name: 'probe', args: { limit: 9 } })).body.id
    await pipeline({ name: 'probe', args: { limit: 2 } })
    const refused = await use('probe', '2.0.0')
    expect(refused).toMatchObject({ status: 409, body: { code: 'reference', value: { pipelines: [wide] } } })
    expect(refused.body.reason).toContain(`/pipelines/${wide}/elements/0/args/limit: must be <= 3`)
    expect(await inCatalog('probe')).toBe('1.0.0')
    await call('PUT', `/pipelines/${wide}`, { elements: [{ name: 'probe', args: { limit: 1 } }] })
    expect((await use('probe', '2.0.0')).status).toBe(200)
  })

  it('is refused where the other version lacks an element that is used', async () => {
    await upload({})
    await upload({ version: '2.0.0', element: { name: 'other' } })
    const { id } = (await pipeline({ name: 'probe' })).body
    expect((await use('probe', '2.0.0')).body).toMatchObject({
      code: 'reference',
      reason: expect.stringContaining(`/pipelines/${id}/elements/0/name: there is no element probe`),
    })
  })

  it('and an edit at the same time leave what fits together', async () => {
    await upload({ element: limitOf(9) })
    await upload({ version: '2.0.0', element: limitOf(3) })
    const [switched, made] = await Promise.all([
      use('probe', '2.0.0'),
      pipeline({ name: 'probe', args: { limit: 9 } }),
    ])
    const outcome = [switched.status, made.status].join()
    expect(['200,400', '409,201']).toContain(outcome)
    expect(await inCatalog('probe')).toBe(outcome === '200,400' ? '2.0.0' : '1.0.0')
  })

  it('to a version that is not there says which are', async () => {
    await upload({})
    expect((await use('probe', '2.0.0')).body).toEqual({
      code: 'id',
      reason: 'plugin probe has no version 2.0.0; there is: 1.0.0',
    })
    for (const path of ['/plugins/nothing', '/plugins/UPPER', '/plugins/..%2fprobe'])
      expect(await call('PUT', path, { version: '1.0.0' })).toMatchObject({
        status: 404,
        body: { code: 'id' },
      })
    expect((await use('probe', 'newest')).body.code).toBe('syntax')
  })

  it('is made only if the plugin is as it was read', async () => {
    const tag = (await upload({})).headers.get('ETag')!
    await upload({ version: '2.0.0' })
    const late = await call('PUT', '/plugins/probe', { version: '2.0.0' }, { 'If-Match': tag })
    expect([late.status, late.body.code]).toEqual([412, 'precondition'])
    const now = (await call('GET', '/plugins/probe')).headers.get('ETag')!
    expect((await call('PUT', '/plugins/probe', { version: '2.0.0' }, { 'If-Match': now })).status).toBe(200)
  })
})

describe('a version that is deleted', () => {
  it('is gone from the disk and the catalog', async () => {
    await upload({})
    expect((await call('DELETE', '/plugins/probe/1.0.0')).status).toBe(204)
    expect((await call('GET', '/plugins/probe')).status).toBe(404)
    expect(await inCatalog('probe')).toBeUndefined()
    expect(existsSync(join(data, 'plugins/probe/1.0.0'))).toBe(false)
    expect(readdirSync(join(data, 'plugins')).filter(name => name.startsWith('.'))).toEqual([])
    expect((await call('DELETE', '/plugins/probe/1.0.0')).body.code).toBe('id')
  })

  it('is refused while pipelines use it, and is not while they use another', async () => {
    await upload({})
    await upload({ version: '2.0.0' })
    const { id } = (await pipeline({ name: 'probe' })).body
    expect((await call('DELETE', '/plugins/probe/1.0.0')).body).toEqual({
      code: 'reference',
      reason: `pipelines ${id} use version 1.0.0 of probe: change them or the version first`,
      value: { pipelines: [id] },
    })
    expect((await call('DELETE', '/plugins/probe/2.0.0')).status).toBe(204)
    expect((await call('GET', '/plugins/probe')).body.active).toBe('1.0.0')
  })

  it('may come again, with other content', async () => {
    await upload({})
    await call('DELETE', '/plugins/probe/1.0.0')
    const open = 'return { process: () => ({ events: [] }) }'
    expect((await upload({ open })).status).toBe(201)
    expect(readFileSync(join(data, 'plugins/probe/1.0.0/element.ts'), 'utf8')).toContain(open)
  })
})

it('what an interrupted upload has left is cleared at the start', async () => {
  await upload({})
  await engine.stop()
  mkdirSync(join(data, 'plugins/.draft-1/package'), { recursive: true })
  mkdirSync(join(data, 'plugins/broken/1.0.0'), { recursive: true })
  writeFileSync(join(data, 'plugins/broken/1.0.0/plugin.json'), '{')
  writeFileSync(join(data, 'plugins/active.json'), '{"probe":')
  await start()
  expect(await inCatalog('probe')).toBe('1.0.0')
  expect(existsSync(join(data, 'plugins/.draft-1'))).toBe(false)
  expect((await upload({ name: 'broken' })).status).toBe(201)
})
