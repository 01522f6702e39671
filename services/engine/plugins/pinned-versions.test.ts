import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '@eyrie/kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createPluginPackage } from '../../../test/fixtures/engine/plugin-package.ts'
import type { TestPlugin } from '../../../test/fixtures/engine/test-plugin.ts'

/** Pipelines that pin a version of a plugin. Each test uses a plugin of its own. */

const folder = mkdtempSync(join(tmpdir(), 'eyrie-pinned-'))
let engine: Service
let call: CallEngine
let getRevision: (revision: 'v1' | 'v2') => CallEngine
beforeAll(async () => {
  ;({ engine, call, getRevision } = await startEngine(folder, {
    EYRIE_LICENSE: 'community',
  }))
})
afterAll(async () => {
  await engine.stop()
  rmSync(folder, { recursive: true })
})

const upload = async (name: string, version: string, plugin: TestPlugin = {}) =>
  call('POST', '/plugins', await createPluginPackage({ name, version, ...plugin }), {
    'Content-Type': 'application/gzip',
  })
const createPipeline = async (...elements: object[]) => call('POST', '/pipelines', { elements })
const withLimit = (maximum: number) => ({
  params_schema: { type: 'object', properties: { limit: { type: 'integer', maximum } } },
})

/** The ids of the pipelines that run each version. */
async function listUsers(name: string): Promise<Record<string, number[] | undefined>> {
  const { versions } = (await call('GET', `/plugins/${name}`)).body
  return Object.fromEntries(
    versions.map(({ version, pipelines }: { version: string; pipelines?: number[] }) => [
      version,
      pipelines,
    ]),
  )
}

it('pipelines run the version that they pin, the newest that begins so, or the active one', async () => {
  for (const version of ['1.2.0', '1.2.3', '1.10.0', '2.0.0', '2.1.0-beta.1']) {
    await upload('pinned', version)
  }
  const ids: Record<string, number> = {}
  for (const name of [
    'pinned',
    'pinned@1.2.0',
    'pinned@1.2',
    'pinned@1',
    'pinned@2',
    'pinned@2.1.0-beta.1',
  ]) {
    const created = await createPipeline({ name })
    expect(created).toMatchObject({ status: 201, body: { elements: [{ name }] } })
    ids[name] = created.body.id
  }
  expect(await listUsers('pinned')).toEqual({
    '1.2.0': [ids.pinned, ids['pinned@1.2.0']],
    '1.2.3': [ids['pinned@1.2']],
    '1.10.0': [ids['pinned@1']],
    '2.0.0': [ids['pinned@2']],
    '2.1.0-beta.1': [ids['pinned@2.1.0-beta.1']],
  })
  await call('PUT', '/plugins/pinned', { version: '2.0.0' })
  expect(await listUsers('pinned')).toMatchObject({
    '1.2.0': [ids['pinned@1.2.0']],
    '2.0.0': [ids.pinned, ids['pinned@2']],
  })
})

it('a version that does not exist is refused with the versions that do', async () => {
  await upload('absent', '1.0.0')
  await upload('absent', '2.0.0')
  for (const pin of ['3', '1.1', 'latest', '', '1.0.0.0']) {
    const refused = await createPipeline({ name: `absent@${pin}` })
    expect(refused).toMatchObject({ status: 400, body: { code: 'syntax' } })
    expect(refused.body.reason).toBe(
      `/elements/0/name: no installed version of absent matches "${pin}": use one of 2.0.0, 1.0.0, the beginning of one, such as absent@2, or absent for the active version`,
    )
  }
  expect((await createPipeline({ name: 'nothing@1' })).body.reason).toMatch(
    /^\/elements\/0\/name: unknown element nothing@1; available: /,
  )
})

it('arguments are checked by the pinned version, also in a deployment', async () => {
  await upload('checked', '1.0.0', { element: withLimit(9) })
  await upload('checked', '2.0.0', { element: withLimit(3) })
  expect((await createPipeline({ name: 'checked@1', args: { limit: 9 } })).status).toBe(201)
  const refused = await createPipeline({ name: 'checked@2', args: { limit: 9 } })
  expect(refused.body.reason).toBe('/elements/0/args/limit: must be <= 3')

  // A switch of the active version does not concern pipelines that pin another.
  expect((await call('PUT', '/plugins/checked', { version: '2.0.0' })).status).toBe(200)
  const source = { type: 'video', address: 'rtsp://127.0.0.1:9/', decoder: 'gst_h264' }
  const deployed = await call('POST', '/configuration', [
    { sources: [source], sinks: [], elements: [{ name: 'checked@2.0.0', args: { limit: 4 } }] },
  ])
  expect(deployed.body.reason).toContain('limit: must be <= 3')
})

it('a pinned version is not deleted', async () => {
  await upload('held', '1.0.0')
  await upload('held', '2.0.0')
  const { id } = (await createPipeline({ name: 'held@2' })).body
  expect((await call('DELETE', '/plugins/held/2.0.0')).body).toMatchObject({
    code: 'reference',
    reason: `pipelines ${id} use version 2.0.0 of held: change them or select another version first`,
  })
  await call('DELETE', `/pipelines/${id}`)
  expect((await call('DELETE', '/plugins/held/2.0.0')).status).toBe(204)
})

it('an upload that a pinned beginning would follow is refused if it does not fit the pipelines', async () => {
  await upload('followed', '1.0.0', { element: withLimit(9) })
  const { id } = (await createPipeline({ name: 'followed@1', args: { limit: 9 } })).body
  const refused = await upload('followed', '1.1.0', { element: withLimit(3) })
  expect(refused.body).toMatchObject({ code: 'reference', value: { pipelines: [id] } })
  const asking = await upload('followed', '1.1.0', {
    element: {
      ...withLimit(9),
      capabilities: { events: {}, counters: [], network: ['api.example.com:443'] },
    },
  })
  expect(asking.body).toMatchObject({
    code: 'conflict',
    reason: expect.stringContaining('Pin the whole version'),
  })
  expect((await upload('followed', '1.1.0', { element: withLimit(9) })).status).toBe(201)
  expect(await listUsers('followed')).toEqual({ '1.1.0': [id], '1.0.0': undefined })
})

it.each(['v1', 'v2'] as const)('the short form of %s has no versions', async revision => {
  await upload('short', '1.0.0', { element: withLimit(9) })
  const create = (elements: string[]) => getRevision(revision)('POST', '/pipelines', { elements })
  expect(JSON.stringify((await create(['short@1:3'])).body)).toContain(
    'the short form has no versions',
  )
  expect((await create(['short@1'])).status).toBe(201)
})
