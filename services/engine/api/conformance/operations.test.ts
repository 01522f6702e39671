import { describe, expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** The operations of the specification in all revisions that have them. */

const callOf = sharedEngine()
const all = ['v1', 'v2', 'v3'] as const
const kinds = [
  { path: '/sources', input: cameraSource, patch: { rate: 5 } },
  { path: '/sinks', input: discardSink, patch: { filter: [3] } },
  { path: '/pipelines', input: { elements: countingElements }, patch: { usecase: 'counting' } },
]

describe.each(all)('%s', revision => {
  const call: ReturnType<typeof callOf> = (...request) => callOf(revision)(...request)
  const shownWithId = revision !== 'v1'
  const create = async (path: string, body: object) =>
    (await call('POST', path, body)).body.id as number

  describe.each(kinds)('$path', ({ path, input, patch }) => {
    test('get and update return the id, except in v1', async () => {
      const id = await create(path, input)
      expect('id' in (await call('GET', `${path}/${id}`)).body).toBe(shownWithId)
      const updated = await call('PUT', `${path}/${id}`, { ...input, ...patch, id })
      expect(updated).toMatchObject({ status: 200, body: patch })
      expect('id' in updated.body).toBe(shownWithId)
    })

    test('modify and list return the id', async () => {
      const id = await create(path, input)
      expect(await call('PATCH', `${path}/${id}`, patch)).toMatchObject({
        status: 200,
        body: { id, ...patch },
      })
      expect((await call('GET', path)).body).toMatchObject([{ id, ...patch }])
    })

    test('create honours Prefer: return=minimal', async () => {
      const answer = await call('POST', path, input, { Prefer: 'return=minimal' })
      expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['id']])
    })

    test('delete removes the resource', async () => {
      const id = await create(path, input)
      expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
      expect((await call('GET', `${path}/${id}`)).body.code).toBe('id')
    })
  })

  test('a conflict lists the references to the resource; in v1 without code and reason', async () => {
    const source = await create('/sources', cameraSource)
    const sink = await create('/sinks', discardSink)
    const pipeline = await create('/pipelines', {
      elements: countingElements,
      sources: [source],
      sinks: [sink],
    })
    const conflicts = [
      [`/sources/${source}`, { pipelines: [pipeline] }],
      [`/sinks/${sink}`, { pipelines: [pipeline] }],
      [`/pipelines/${pipeline}`, { sources: [source], sinks: [sink] }],
    ] as const
    for (const [path, value] of conflicts) {
      const answer = await call('DELETE', path)
      const whole = { code: 'reference', reason: expect.any(String), value }
      expect([answer.status, answer.body]).toEqual([409, revision === 'v1' ? value : whole])
    }
    for (const [path] of conflicts) {
      expect((await call('DELETE', `${path}?force=true`)).status).toBe(204)
    }
  })

  test.each(['sources', 'sinks'])('%s are connected and disconnected', async kind => {
    const id = await create(`/${kind}`, kind === 'sources' ? cameraSource : discardSink)
    const one = `/pipelines/${await create('/pipelines', { elements: countingElements })}`
    expect((await call('POST', `${one}/connect-${kind}`, [id])).body[kind]).toEqual([id])
    expect((await call('POST', `${one}/disconnect-${kind}`, [id])).body[kind]).toEqual([])
    expect(await call('POST', `${one}/disconnect-${kind}`, [id])).toMatchObject({
      status: 400,
      body: { code: 'id', value: { id: expect.any(String), [kind]: [id] } },
    })
  })

  const key = revision === 'v3' ? 'elements' : 'pipeline'

  test('deploy replaces the whole configuration', async () => {
    await create('/sources', { ...cameraSource, rate: 1 })
    const object = {
      sources: [cameraSource],
      sinks: [discardSink],
      [key]: countingElements,
      usecase: null,
    }
    const deployed = await call('POST', '/configuration', [object])
    expect(deployed).toMatchObject({
      status: 200,
      body: {
        sources: [cameraSource],
        sinks: [discardSink],
        pipelines: [{ elements: countingElements, usecase: null }],
      },
    })
    expect((await call('GET', '/configuration')).body).toEqual(deployed.body)
  })

  test.each([
    ['sources are required', { [key]: countingElements }, '/0/sources'],
    ['sources are not empty', { sources: [], [key]: countingElements }, '/0/sources'],
    ['elements are required', { sources: [cameraSource] }, `/0/${key}`],
    ['elements are not empty', { sources: [cameraSource], [key]: [] }, `/0/${key}`],
    [
      'elements are checked',
      { sources: [cameraSource], [key]: [{ name: 'nothing' }] },
      `/0/${key}/0/name`,
    ],
    [
      'sources carry no id',
      { sources: [{ ...cameraSource, id: 1 }], [key]: countingElements },
      '/0/sources/0/id',
    ],
  ])('malformed deployments are rejected: %s', async (_, object, place) => {
    const answer = await call('POST', '/configuration', [object])
    expect(answer).toMatchObject({ status: 400, body: { code: 'syntax' } })
    expect(answer.body.reason.startsWith(`${place}: `), answer.body.reason).toBe(true)
  })

  test('the requested parts of channels and streams are exported', async () => {
    const source = await create('/sources', cameraSource)
    const pipeline = await create('/pipelines', {
      elements: countingElements,
      sources: [source],
      usecase: 'counting',
    })
    const { channels, streams } = (await call('GET', '/exports')).body
    expect(channels).toEqual([{ id: expect.any(Number), source, pipeline, stream: null }])
    expect(streams).toEqual([])
    expect((await call('GET', '/exports?filter=streams')).body).toEqual({ streams })
    const { id } = channels[0]
    const properties = await call(
      'GET',
      `/exports/channels/properties?ids=${id}&props=usecase,stream,latency`,
    )
    expect(properties.body).toEqual({ [id]: { usecase: 'counting', stream: null, latency: 0 } })
    for (const format of ['pass', 'formatter_a', 'formatter_b']) {
      expect((await call('GET', `/exports/channels/${id}/static?format=${format}`)).status).toBe(
        200,
      )
    }
  })

  test('statistics and about describe the system', async () => {
    expect((await call('GET', '/statistics')).body).toMatchObject({ cpu: expect.any(Number) })
    expect((await call('GET', '/about')).body.api_versions).toEqual(all)
  })
})

describe('one configuration', () => {
  test('is the same in all revisions, and an edit retains the fields that the revision lacks', async () => {
    const [v1, v2, v3] = all.map(revision => callOf(revision)) as [Call, Call, Call]
    const source = (await v3('POST', '/sources', { ...cameraSource, decoder: 'ffmpeg' })).body.id
    const pipeline = (await v3('POST', '/pipelines', { elements: countingElements, priority: 9 }))
      .body.id
    expect((await v1('GET', `/sources/${source}`)).body).toEqual(cameraSource)
    await v1('PUT', `/sources/${source}`, { ...cameraSource, rate: 3 })
    await v2('PUT', `/pipelines/${pipeline}`, { elements: ['object-tracking:7'] })
    expect((await v3('GET', `/sources/${source}`)).body).toEqual({
      id: source,
      ...cameraSource,
      rate: 3,
      decoder: 'ffmpeg',
    })
    expect((await v3('GET', `/pipelines/${pipeline}`)).body).toMatchObject({
      elements: [{ name: 'object-tracking', args: { max_age: 7 } }],
      priority: 9,
    })
  })
})

type Call = ReturnType<typeof callOf>
