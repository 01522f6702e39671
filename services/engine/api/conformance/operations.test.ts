import { describe, expect, test } from 'vitest'
import { camera, discard, elements, sharedEngine } from '../../../../test/fixtures/shared-engine.ts'

/** What each operation of the specification does, in each revision that has it. */

const callOf = sharedEngine()
const all = ['v1', 'v2', 'v3'] as const
const kinds = [
  { path: '/sources', input: camera, patch: { rate: 5 } },
  { path: '/sinks', input: discard, patch: { filter: [3] } },
  { path: '/pipelines', input: { elements }, patch: { usecase: 'counting' } },
]

describe.each(all)('%s', revision => {
  const call: ReturnType<typeof callOf> = (...request) => callOf(revision)(...request)
  const shownWithId = revision !== 'v1'
  const create = async (path: string, body: object) => (await call('POST', path, body)).body.id as number

  describe.each(kinds)('$path', ({ path, input, patch }) => {
    test('get and update answer with the id, except in A', async () => {
      const id = await create(path, input)
      expect('id' in (await call('GET', `${path}/${id}`)).body).toBe(shownWithId)
      const updated = await call('PUT', `${path}/${id}`, { ...input, ...patch, id })
      expect(updated).toMatchObject({ status: 200, body: patch })
      expect('id' in updated.body).toBe(shownWithId)
    })

    test('modify and list answer with the id', async () => {
      const id = await create(path, input)
      expect(await call('PATCH', `${path}/${id}`, patch)).toMatchObject({
        status: 200,
        body: { id, ...patch },
      })
      expect((await call('GET', path)).body).toMatchObject([{ id, ...patch }])
    })

    test('create prefers a minimal answer where it is asked to', async () => {
      const answer = await call('POST', path, input, { Prefer: 'return=minimal' })
      expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['id']])
    })

    test('delete leaves nothing', async () => {
      const id = await create(path, input)
      expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
      expect((await call('GET', `${path}/${id}`)).body.code).toBe('id')
    })
  })

  test('a conflict tells what refers to the resource; in A its value alone', async () => {
    const source = await create('/sources', camera)
    const sink = await create('/sinks', discard)
    const pipeline = await create('/pipelines', { elements, sources: [source], sinks: [sink] })
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
    for (const [path] of conflicts) expect((await call('DELETE', `${path}?force=true`)).status).toBe(204)
  })

  test.each(['sources', 'sinks'])('%s are connected and disconnected', async kind => {
    const id = await create(`/${kind}`, kind === 'sources' ? camera : discard)
    const one = `/pipelines/${await create('/pipelines', { elements })}`
    expect((await call('POST', `${one}/connect-${kind}`, [id])).body[kind]).toEqual([id])
    expect((await call('POST', `${one}/disconnect-${kind}`, [id])).body[kind]).toEqual([])
    expect(await call('POST', `${one}/disconnect-${kind}`, [id])).toMatchObject({
      status: 400,
      body: { code: 'id', value: { id: expect.any(String), [kind]: [id] } },
    })
  })

  const key = revision === 'v3' ? 'elements' : 'pipeline'

  test('deploy replaces the whole configuration', async () => {
    await create('/sources', { ...camera, rate: 1 })
    const object = { sources: [camera], sinks: [discard], [key]: elements, usecase: null }
    const deployed = await call('POST', '/configuration', [object])
    expect(deployed).toMatchObject({
      status: 200,
      body: { sources: [camera], sinks: [discard], pipelines: [{ elements, usecase: null }] },
    })
    expect((await call('GET', '/configuration')).body).toEqual(deployed.body)
  })

  test.each([
    ['sources are required', { [key]: elements }, '/0/sources'],
    ['sources are not empty', { sources: [], [key]: elements }, '/0/sources'],
    ['elements are required', { sources: [camera] }, `/0/${key}`],
    ['elements are not empty', { sources: [camera], [key]: [] }, `/0/${key}`],
    ['elements are checked', { sources: [camera], [key]: [{ name: 'nothing' }] }, `/0/${key}/0/name`],
    ['sources carry no id', { sources: [{ ...camera, id: 1 }], [key]: elements }, '/0/sources/0/id'],
  ])('of a malformed deployment: %s', async (_, object, place) => {
    const answer = await call('POST', '/configuration', [object])
    expect(answer).toMatchObject({ status: 400, body: { code: 'syntax' } })
    expect(answer.body.reason.startsWith(`${place}: `), answer.body.reason).toBe(true)
  })

  test('channels and streams are exported, in the parts that are asked for', async () => {
    const source = await create('/sources', camera)
    const pipeline = await create('/pipelines', { elements, sources: [source], usecase: 'counting' })
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
    for (const format of ['pass', 'formatter_a', 'formatter_b'])
      expect((await call('GET', `/exports/channels/${id}/static?format=${format}`)).status).toBe(200)
  })

  test('the system tells its load and what it is', async () => {
    expect((await call('GET', '/statistics')).body).toMatchObject({ cpu: expect.any(Number) })
    expect((await call('GET', '/about')).body.api_versions).toEqual(all)
  })
})

describe('one configuration', () => {
  test('is seen through all revisions; what one does not know it leaves as it is', async () => {
    const [a, b, c] = all.map(revision => callOf(revision)) as [Call, Call, Call]
    const source = (await c('POST', '/sources', { ...camera, decoder: 'ffmpeg' })).body.id
    const pipeline = (await c('POST', '/pipelines', { elements, priority: 9 })).body.id
    expect((await a('GET', `/sources/${source}`)).body).toEqual(camera)
    await a('PUT', `/sources/${source}`, { ...camera, rate: 3 })
    await b('PUT', `/pipelines/${pipeline}`, { elements: ['object-tracking:7'] })
    expect((await c('GET', `/sources/${source}`)).body).toEqual({
      id: source,
      ...camera,
      rate: 3,
      decoder: 'ffmpeg',
    })
    expect((await c('GET', `/pipelines/${pipeline}`)).body).toMatchObject({
      elements: [{ name: 'object-tracking', args: { max_age: 7 } }],
      priority: 9,
    })
  })
})

type Call = ReturnType<typeof callOf>
