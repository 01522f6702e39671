import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startEngine } from '../../test/fixtures/engine/engine.ts'
import { writePlugin } from '../../test/fixtures/engine/test-plugin.ts'
import { writeNumberedVideo } from '../../test/fixtures/media/numbered-video.ts'
import { SMALL_PICTURE } from '../../test/fixtures/media/small-picture.ts'
import { startTraceReceiver } from '../../test/fixtures/network/trace-receiver.ts'
import { startMediaProcess } from '../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

const pass = 'return { process: () => ({}) }'

test('engine traces a frame through each element to its publication', async () => {
  const receiver = await startTraceReceiver()
  const folder = createTemporaryFolder()
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, 100)
  for (const name of ['first', 'second']) writePlugin(join(folder, 'plugins'), { name, open: pass })
  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  onTestFinished(() => media.stop())
  const { engine, call } = await startEngine(join(folder, 'data'), {
    EYRIE_MEDIA_URL: media.url,
    EYRIE_MEDIA_ROOTS: folder,
    EYRIE_PLUGINS: join(folder, 'plugins'),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  })
  onTestFinished(() => engine.stop())
  const source = (await call('POST', '/sources', { type: 'file', address: video })).body.id
  const elements = [{ name: 'first' }, { name: 'second' }]
  const pipeline = (await call('POST', '/pipelines', { elements, sources: [source] })).body.id

  const frame = await receiver.waitForSpan(({ name }) => name === 'frame')
  expect(frame).toMatchObject({ service: 'eyrie-engine', status: { code: 0 } })
  expect(frame.parentSpanId).toBeUndefined()
  expect(frame.attributes).toEqual({
    'eyrie.channel': 1,
    'eyrie.source': source,
    'eyrie.pipeline': pipeline,
    'eyrie.n': expect.any(Number),
  })
  const parts = receiver.spans.filter(({ parentSpanId }) => parentSpanId === frame.spanId)
  const byBeginning = parts.sort((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano))
  expect(byBeginning.map(({ name }) => name)).toEqual(['first', 'second', 'publish'])
  for (const { traceId, startTimeUnixNano, endTimeUnixNano } of parts) {
    expect(traceId).toBe(frame.traceId)
    expect(startTimeUnixNano).toBeGreaterThanOrEqual(frame.startTimeUnixNano)
    expect(endTimeUnixNano).toBeLessThanOrEqual(frame.endTimeUnixNano)
  }
})

test('a request continues the trace of its caller and contains the span of an applied configuration', async () => {
  const receiver = await startTraceReceiver()
  const { engine, call } = await startEngine(createTemporaryFolder(), {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_TRACES_SAMPLER_ARG: '0',
  })
  onTestFinished(() => engine.stop())
  const [traceId, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const traceparent = `00-${traceId}-${caller}-01`
  await call('POST', '/sources', { type: 'inf', address: SMALL_PICTURE }, { traceparent })
  await call('GET', '/sources/4711?access_token=secret', undefined, { traceparent })

  const created = await receiver.waitForSpan(({ name }) => name === 'POST /api/v3/sources')
  expect(created).toMatchObject({ traceId, parentSpanId: caller })
  expect(created.attributes).toMatchObject({
    'http.route': '/api/v3/sources',
    'http.response.status_code': 201,
  })
  const applied = await receiver.waitForSpan(({ name }) => name === 'configuration apply')
  expect(applied).toMatchObject({
    traceId,
    parentSpanId: created.spanId,
    attributes: { 'eyrie.sources': 1, 'eyrie.sinks': 0, 'eyrie.pipelines': 0 },
  })
  const missing = await receiver.waitForSpan(({ name }) => name === 'GET /api/v3/sources/:id')
  expect(missing.attributes['http.response.status_code']).toBe(404)
  expect(
    JSON.stringify(receiver.spans, (_, each) => (typeof each === 'bigint' ? 0 : each)),
  ).not.toContain('secret')
})
