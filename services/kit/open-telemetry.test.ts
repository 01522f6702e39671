import { Hono } from 'hono'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findFreePort } from '../../test/fixtures/network/free-ports.ts'
import { startTraceReceiver } from '../../test/fixtures/network/trace-receiver.ts'
import { readEnvironment } from './environment.ts'
import { startTracer } from './start-tracer.ts'
import { noopTracer, traceRequests } from './tracer.ts'

/** Starts a tracer with these environment variables and collects its log messages. */
async function start(endpoint: string, variables: NodeJS.ProcessEnv = {}) {
  const logged: string[] = []
  const log = pino({ base: null }, { write: line => logged.push(JSON.parse(line).msg) })
  const { tracing } = readEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    ...variables,
  })
  const tracer = await startTracer(tracing, 'test', log)
  onTestFinished(() => tracer.shutdown())
  return { tracer, logged }
}

describe('tracer', () => {
  it('is disabled without an endpoint', async () => {
    expect((await start('')).tracer).toBe(noopTracer)
    expect(noopTracer.startSpan('work')).toBeUndefined()
  })

  it('exports spans with their attributes, times and errors', async () => {
    const receiver = await startTraceReceiver()
    const { tracer } = await start(`${receiver.url}/`)
    const work = tracer.startSpan('work', {
      attributes: { n: 7 },
      startedAt: performance.now() - 50,
    })!
    work.child('part', { share: 0.5 }).end('gone')
    await work.run(async () => tracer.startSpan('inside')?.end())
    work.setAttributes({ done: true })
    work.end()

    const whole = await receiver.waitForSpan(({ name }) => name === 'work')
    const part = await receiver.waitForSpan(({ name }) => name === 'part')
    const inside = await receiver.waitForSpan(({ name }) => name === 'inside')
    expect(whole).toMatchObject({
      service: 'eyrie-test',
      attributes: { n: 7, done: true },
      status: { code: 0 },
    })
    expect(Number(whole.endTimeUnixNano - whole.startTimeUnixNano)).toBeGreaterThanOrEqual(49e6)
    expect(part).toMatchObject({ attributes: { share: 0.5 }, status: { code: 2, message: 'gone' } })
    for (const { traceId, parentSpanId } of [part, inside]) {
      expect([traceId, parentSpanId]).toEqual([whole.traceId, whole.spanId])
    }
  })

  it('exports pending spans on shutdown, under the configured service name', async () => {
    const receiver = await startTraceReceiver()
    const { tracer } = await start(receiver.url, {
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_SERVICE_NAME: 'gate',
    })
    tracer.startSpan('last')?.end()
    await tracer.shutdown()
    expect(receiver.spans).toMatchObject([{ name: 'last', service: 'gate' }])
  })

  it('samples only traces that callers have started with a ratio of 0', async () => {
    const receiver = await startTraceReceiver()
    const { tracer } = await start(receiver.url, { OTEL_TRACES_SAMPLER_ARG: '0' })
    expect(tracer.startSpan('own')).toBeUndefined()
    const request = {
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      tracestate: undefined,
    }
    tracer.startSpan('asked for', { traceContext: request })?.end()
    expect(await receiver.waitForSpan(() => true)).toMatchObject({
      name: 'asked for',
      traceId: 'a'.repeat(32),
      parentSpanId: 'b'.repeat(16),
      kind: 2,
    })
  })

  it.each([
    ['is not sampled by its caller', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, undefined],
    ['has an all-zero trace id', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, expect.anything()],
    ['has an invalid version', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, expect.anything()],
    ['has a malformed traceparent', 'yes', expect.anything()],
  ])('follows the sampling decision of a request that %s', async (_, traceparent, traced) => {
    const { tracer } = await start('http://127.0.0.1:9')
    expect(
      tracer.startSpan('request', { traceContext: { traceparent, tracestate: undefined } }),
    ).toEqual(traced)
  })

  it('names the span of a request by its route, without the query', async () => {
    const receiver = await startTraceReceiver()
    const { tracer } = await start(receiver.url)
    const app = new Hono()
      .use(traceRequests(tracer))
      .get('/things/all', c => c.text('all'))
      .get('/things/:id', c => c.text('one', 201))
    await app.request('/things/all?access_token=secret')
    await app.request('/things/7')
    const all = await receiver.waitForSpan(({ name }) => name === 'GET /things/all')
    const one = await receiver.waitForSpan(({ name }) => name === 'GET /things/:id')
    expect(all.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/things/all',
      'http.response.status_code': 200,
      'url.path': '/things/all',
    })
    expect(one.attributes).toMatchObject({
      'url.path': '/things/7',
      'http.response.status_code': 201,
    })
  })

  it('logs an unreachable receiver once, and its recovery', async () => {
    const port = await findFreePort()
    const { tracer, logged } = await start(`http://127.0.0.1:${port}`)
    const working = setInterval(() => tracer.startSpan('work')?.end(), 10)
    onTestFinished(() => clearInterval(working))
    await vi.waitUntil(() => logged.length > 0, { timeout: 60_000 })
    const receiver = await startTraceReceiver(port)
    await receiver.waitForSpan(({ name }) => name === 'work')
    await vi.waitUntil(() => logged.length > 1, { timeout: 60_000 })
    expect(logged).toEqual([
      'failed to export traces: dropping them until the receiver recovers',
      'exporting traces again',
    ])
  })
})
