import { expect, test } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { parseExposition } from '../../../test/fixtures/network/prometheus.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

test('metrics cover all channels, the output and the machine', async () => {
  const { engine, call } = await startEngine(createTemporaryFolder())
  const source = (await call('POST', '/sources', { type: 'video', address: 'rtsp://127.0.0.1:9/' }))
    .body.id
  for (const _ of [1, 2]) {
    await call('POST', '/pipelines', { elements: [{ name: 'object-tracking' }], sources: [source] })
  }
  const response = await engine.app.request('/metrics')
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parseExposition(await response.text())
  const samples = (name: string) => Object.fromEntries(families.get(name)!.samples)

  const channels = ['channel="1",source="1",pipeline="1"', 'channel="2",source="1",pipeline="2"']
  const zeroForEach = (...ownLabels: string[]) =>
    Object.fromEntries(channels.flatMap(channel => ownLabels.map(label => [channel + label, 0])))
  expect(samples('eyrie_engine_channel_fps')).toEqual(zeroForEach(''))
  expect(samples('eyrie_engine_frames_analysed_total')).toEqual(zeroForEach(''))
  expect(samples('eyrie_engine_channel_latency_seconds')).toEqual(
    zeroForEach(',quantile="0.5"', ',quantile="0.95"'),
  )
  expect(samples('eyrie_engine_frames_dropped_total')).toEqual(
    zeroForEach(',reason="lacking"', ',reason="failed"'),
  )
  expect(samples('eyrie_engine_output_storing')).toEqual({ '': 1 })
  expect(samples('eyrie_engine_alarms')).toEqual({ '': 0 })
  expect(samples('eyrie_capacity_cores')['']).toBeGreaterThanOrEqual(1)
  expect(samples('eyrie_load_predicted_cores')).toEqual({ '': 0 })
  expect(samples('eyrie_system_cpu_ratio')['']).toBeLessThanOrEqual(1)
  expect(samples('eyrie_system_memory_bytes')['kind="physical"']).toBeGreaterThan(1 << 20)
  await engine.stop()
})

test('metrics require a token if tokens are configured', async () => {
  const { engine } = await startEngine(createTemporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  expect((await engine.app.request('/metrics')).status).toBe(401)
  const headers = { Authorization: 'Bearer secret' }
  expect((await engine.app.request('/metrics', { headers })).status).toBe(200)
  await engine.stop()
})
