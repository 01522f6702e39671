import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedStatefulEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

const call = sharedStatefulEngine()

describe('activation and deployment', () => {
  test('are accepted only in this order', async () => {
    const early = await call('POST', '/configuration', [])
    expect([early.status, early.body.code]).toEqual([403, 'activation'])
    const invalid = await call('POST', '/activation', { ...COMMUNITY_LICENSE, pool: 'gold' })
    expect([invalid.status, invalid.body.code]).toEqual([400, 'license'])
    expect((await call('GET', '/activation')).body).toEqual({ activated: false })

    const activated = await call('POST', '/activation', COMMUNITY_LICENSE)
    expect([activated.status, activated.body]).toEqual([
      200,
      { activated: true, activated_at: expect.any(String), license: COMMUNITY_LICENSE },
    ])
    expect((await call('POST', '/activation', COMMUNITY_LICENSE)).body).toEqual(activated.body)

    const deployed = await call('POST', '/configuration', [
      { sources: [cameraSource], sinks: [discardSink], elements: countingElements, usecase: null },
    ])
    expect(deployed.status).toBe(200)
    const [source, sink, pipeline] = [
      deployed.body.sources[0],
      deployed.body.sinks[0],
      deployed.body.pipelines[0],
    ]
    expect(pipeline).toMatchObject({
      elements: countingElements,
      usecase: null,
      sources: [source.id],
      sinks: [sink.id],
    })
    expect(await call('GET', '/configuration')).toMatchObject({ status: 200, body: deployed.body })
  })
})

describe('references', () => {
  test('prevent the deletion of connected resources without force', async () => {
    const source = (await call('POST', '/sources', cameraSource)).body.id
    const sink = (await call('POST', '/sinks', discardSink)).body.id
    const pipeline = (
      await call('POST', '/pipelines', {
        elements: countingElements,
        sources: [source],
        sinks: [sink],
      })
    ).body.id
    for (const path of [`/sources/${source}`, `/sinks/${sink}`]) {
      expect(await call('DELETE', path)).toMatchObject({
        status: 409,
        body: { code: 'reference', value: { pipelines: [pipeline] } },
      })
    }
    expect(await call('DELETE', `/pipelines/${pipeline}`)).toMatchObject({
      status: 409,
      body: { code: 'reference', value: { sources: [source], sinks: [sink] } },
    })
    expect((await call('DELETE', `/sources/${source}?force=true`)).status).toBe(204)
    expect((await call('GET', `/pipelines/${pipeline}`)).body.sources).toEqual([])
    expect((await call('DELETE', `/pipelines/${pipeline}?force=1`)).status).toBe(204)
    expect((await call('DELETE', `/sinks/${sink}`)).status).toBe(204)
  })

  test('must refer to existing resources', async () => {
    const answer = await call('POST', '/pipelines', { elements: countingElements, sources: [4711] })
    expect(answer).toMatchObject({ status: 404, body: { code: 'id', value: { sources: [4711] } } })
  })

  test.each(['sources', 'sinks'])(
    'to several %s are connected and disconnected either completely or not at all',
    async kind => {
      const id = (await call('POST', `/${kind}`, kind === 'sources' ? cameraSource : discardSink))
        .body.id
      const pipeline = (await call('POST', '/pipelines', { elements: countingElements })).body.id
      const one = `/pipelines/${pipeline}`
      const refusal = (ids: number[]) => ({
        status: 400,
        body: { code: 'id', value: { id: String(pipeline), [kind]: ids } },
      })

      expect(await call('POST', `${one}/connect-${kind}`, [id, 4711])).toMatchObject(
        refusal([4711]),
      )
      expect(await call('POST', `${one}/disconnect-${kind}`, [id])).toMatchObject(refusal([id]))
      expect((await call('GET', one)).body[kind]).toEqual([])
      const connected = await call('POST', `${one}/connect-${kind}`, [id])
      expect([connected.status, connected.body[kind]]).toEqual([200, [id]])
      expect(await call('POST', `${one}/connect-${kind}`, [id])).toMatchObject(refusal([id]))
      expect((await call('POST', `${one}/disconnect-${kind}`, [id])).body[kind]).toEqual([])
      expect(await call('POST', `/pipelines/4711/connect-${kind}`, [id])).toMatchObject({
        status: 404,
      })
    },
  )
})

describe('read operations', () => {
  test('return the requested parts of the catalog', async () => {
    const whole = (await call('GET', '/catalog')).body
    expect(Object.keys(whole).sort()).toEqual(['devices', 'elements', 'models'])
    expect((await call('GET', '/catalog?filter=elements&filter=devices')).body).toEqual({
      elements: whole.elements,
      devices: whole.devices,
    })
    expect((await call('GET', '/catalog?filter=elements,devices')).body).toEqual({
      elements: whole.elements,
      devices: whole.devices,
    })
    expect(whole.elements.map(({ name }: { name: string }) => name)).toContain('infer')
    expect((await call('GET', '/pipelines/elements?filter=elements')).body).toEqual({
      elements: whole.elements,
    })
    expect(Object.keys((await call('GET', '/catalog/models?filter=none')).body)).toEqual(['models'])
  })

  test('return properties, statistics and lines of channels', async () => {
    const source = (await call('POST', '/sources', cameraSource)).body.id
    const pipeline = (
      await call('POST', '/pipelines', {
        elements: countingElements,
        sources: [source],
        usecase: 'counting',
      })
    ).body.id
    const { channels, streams } = (await call('GET', '/exports')).body
    const channel = channels.find((channel: { pipeline: number }) => channel.pipeline === pipeline)
    expect(channel).toEqual({ id: expect.any(Number), source, pipeline, stream: null })
    expect(streams).toEqual([])
    expect((await call('GET', '/exports?filter=streams')).body).toEqual({ streams: [] })

    const properties = await call(
      'GET',
      `/exports/channels/properties?ids=${channel.id}&props=source,usecase,fps`,
    )
    expect(properties.body).toEqual({ [channel.id]: { source, usecase: 'counting', fps: 0 } })
    expect(await call('GET', '/exports/channels/properties?ids=4711')).toMatchObject({
      status: 404,
      body: { code: 'id' },
    })
    expect(await call('GET', `/exports/channels/${channel.id}/static`)).toMatchObject({
      status: 200,
    })
    expect(await call('GET', '/exports/channels/4711/static')).toMatchObject({
      status: 404,
      body: { code: 'id' },
    })

    const statistics = await call('GET', `/pipelines/${pipeline}/statistics`)
    expect(statistics.body).toMatchObject({ status: expect.any(String), fps: 0, latency: 0 })
    expect(await call('GET', '/pipelines/4711/statistics')).toMatchObject({ status: 404 })
  })
})
