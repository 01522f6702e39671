import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createUpstream } from './http/live/upstream-client.ts'
import { createIsolationMonitor } from './isolation-monitor.ts'

/** A service that answers every request with this body. */
async function startService(body: object) {
  const server = createServer((_, response) => response.end(JSON.stringify(body))).listen(
    0,
    '127.0.0.1',
  )
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return createUpstream({ name: 'service', url: `http://127.0.0.1:${port}`, token: undefined })
}

it('raises an alarm for each service whose boundaries are incomplete, with the remedies', async () => {
  const missing = [
    'programs may signal others: run Linux 6.12',
    'programs may empty files: run Linux 6.2',
  ]
  const monitor = createIsolationMonitor({
    engine: await startService({ ok: true, isolation: { level: 'full', missing: [] } }),
    media: await startService({ ok: true, isolation: { level: 'partial', missing } }),
    earlier: await startService({ ok: true }),
  })
  expect(monitor.alarms()).toEqual([])
  monitor.start()
  await vi.waitFor(() =>
    expect(monitor.alarms()).toEqual([
      'the isolation of media is partial: programs may signal others: run Linux 6.12; programs may empty files: run Linux 6.2',
    ]),
  )
  await monitor.stop()
})
