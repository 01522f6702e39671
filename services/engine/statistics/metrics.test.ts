import { expect, test } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

test('metrics tell of every channel, of the output and of the machine', async () => {
  const { engine, call } = await startEngine(temporaryFolder())
  const source = (await call('POST', '/sources', { type: 'video', address: 'rtsp://127.0.0.1:9/' })).body.id
  await call('POST', '/pipelines', { elements: [{ name: 'object-tracking' }], sources: [source] })
  const response = await engine.app.request('/metrics')
  expect(response.headers.get('Content-Type')).toMatch(/^text\/plain/)
  const lines = (await response.text()).split('\n')
  const channel = 'channel="1",source="1",pipeline="1"'
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE eyrie_engine_channel_fps gauge',
      `eyrie_engine_channel_fps{${channel}} 0`,
      `eyrie_engine_channel_latency_seconds{${channel},quantile="0.95"} 0`,
      `eyrie_engine_frames_dropped_total{${channel},reason="lacking"} 0`,
      `eyrie_engine_frames_dropped_total{${channel},reason="failed"} 0`,
      'eyrie_engine_output_storing 1',
      'eyrie_engine_alarms 0',
      expect.stringMatching(/^eyrie_system_cpu_ratio [\d.]+$/),
      expect.stringMatching(/^eyrie_system_memory_bytes\{kind="physical"\} \d+$/),
    ]),
  )
  for (const line of lines.filter(Boolean))
    expect(line).toMatch(/^# TYPE \w+ (gauge|counter)$|^\w+(\{.+\})? [\d.]+$/)
  await engine.stop()
})

test('metrics want a token where there are any', async () => {
  const { engine } = await startEngine(temporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  expect((await engine.app.request('/metrics')).status).toBe(401)
  const headers = { Authorization: 'Bearer secret' }
  expect((await engine.app.request('/metrics', { headers })).status).toBe(200)
  await engine.stop()
})
