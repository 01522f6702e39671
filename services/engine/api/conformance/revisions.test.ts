import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import type { Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApiRevision, startEngine } from '../../../../test/fixtures/engine/engine.ts'
import {
  cameraSource,
  countingElements,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'
import { toStreamId, toV2Models } from '../v2/v2-resources.ts'

/** The table "Versioning": the operations and fields of each revision. */

const callOf = sharedEngine()

describe('operations of each revision', () => {
  test.each<[ApiRevision, string, boolean]>([
    ['v1', '/activation', false],
    ['v2', '/activation', true],
    ['v3', '/activation', true],
    ['v1', '/catalog', false],
    ['v2', '/catalog', false],
    ['v3', '/catalog', true],
    ['v1', '/catalog/models', false],
    ['v2', '/catalog/models', false],
    ['v3', '/catalog/models', true],
    ['v1', '/pipelines/elements', true],
    ['v2', '/pipelines/elements', true],
    ['v3', '/pipelines/elements', true],
    ['v1', '/pipelines/elements/list', true],
    ['v2', '/pipelines/elements/list', true],
    ['v3', '/pipelines/elements/list', false],
  ])('%s has %s: %s', async (revision, path, isServed) => {
    expect((await callOf(revision)('GET', path)).status).toBe(isServed ? 200 : 404)
  })

  test.each<[ApiRevision, boolean]>([
    ['v1', false],
    ['v2', true],
    ['v3', true],
  ])('%s has statistics of a pipeline: %s', async (revision, isServed) => {
    const { id } = (await callOf(revision)('POST', '/pipelines', { elements: countingElements }))
      .body
    const answer = await callOf(revision)('GET', `/pipelines/${id}/statistics`)
    expect(answer.status).toBe(isServed ? 200 : 404)
    if (isServed) expect(answer.body).toMatchObject({ status: 'idle', fps: 0, latency: 0 })
  })
})

describe('elements and models of each revision', () => {
  test('have four schemas and the mapping in v3', async () => {
    const { elements } = (await callOf('v3')('GET', '/pipelines/elements')).body
    for (const element of elements) {
      expect(Object.keys(element)).toEqual(
        expect.arrayContaining([
          'params_schema',
          'params_mapping',
          'config_schema',
          'input_schema',
          'output_schema',
        ]),
      )
    }
  })

  test.each(['v1', 'v2'] as const)('have paramsSchema and platforms in %s', async revision => {
    const { elements, models } = (await callOf(revision)('GET', '/pipelines/elements')).body
    const latest = (await callOf('v3')('GET', '/pipelines/elements')).body
    for (const [
      index,
      { name, params_schema: paramsSchema, passthrough },
    ] of latest.elements.entries()) {
      expect(elements[index]).toEqual({ name, paramsSchema: paramsSchema, passthrough })
    }
    expect(models).toContainEqual({ name: latest.models[0].name, platform: 'CPU' })
  })

  test.each(['v1', 'v2'] as const)('are a flat list in %s', async revision => {
    const list = async (query: string) =>
      (await callOf(revision)('GET', `/pipelines/elements/list${query}`)).body as { type: string }[]
    const all = await list('')
    expect(all).toContainEqual({ type: 'element', name: 'infer' })
    expect(all).toContainEqual({ type: 'model', name: expect.any(String), platform: 'CPU' })
    expect(await list('?type=model')).toEqual(all.filter(({ type }) => type === 'model'))
    expect(await list('?type=element,model')).toEqual(all)
    expect((await callOf(revision)('GET', '/pipelines/elements/list?type=plugin')).status).toBe(400)
  })

  test('list a model once for each platform', () => {
    const models = ['cpu', 'igpu', 'gpu'].map(hw => ({ name: 'person', hw, args: {} }))
    expect(toV2Models(models)).toEqual([
      { name: 'person', platform: 'CPU' },
      { name: 'person', platform: 'GPU' },
    ])
  })

  test('represent a stream by its id in v1 and v2', () => {
    expect(toStreamId({ id: 7, hostname: 'box', port: 8200 })).toBe(7)
    expect(toStreamId(null)).toBeNull()
  })
})

describe('engine without activation', () => {
  let data: string
  let engine: Service
  let callOf: Awaited<ReturnType<typeof startEngine>>['getRevision']
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'eyrie-api-'))
    const started = await startEngine(data)
    engine = started.engine
    callOf = started.getRevision
  })
  afterEach(async () => {
    await engine.stop()
    await rm(data, { recursive: true })
  })

  test.each<[ApiRevision, string]>([
    ['v2', 'pipeline'],
    ['v3', 'elements'],
  ])('rejects a deployment by %s', async (revision, key) => {
    const call = callOf(revision)
    const deployment = [{ sources: [cameraSource], [key]: countingElements }]
    expect(await call('POST', '/configuration', deployment)).toMatchObject({
      status: 403,
      body: { code: 'activation' },
    })
    expect((await call('POST', '/activation', COMMUNITY_LICENSE)).body.activated).toBe(true)
    expect((await call('POST', '/activation?force=true', COMMUNITY_LICENSE)).status).toBe(200)
    expect((await call('POST', '/configuration', deployment)).status).toBe(200)
  })

  test('accepts a deployment by v1, which has no activation', async () => {
    const answer = await callOf('v1')('POST', '/configuration', [
      { sources: [cameraSource], pipeline: countingElements },
    ])
    expect(answer.status).toBe(200)
  })
})
