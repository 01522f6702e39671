import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findFreePort } from '../../test/fixtures/network/free-ports.ts'
import { startTcpServer } from '../../test/fixtures/network/tcp-server.ts'
import { createCheckedEgress } from './egress/egress.ts'
import { findServerAddress } from './egress/server-address.ts'
import { waitForServer } from './wait-for-server.ts'

const HOUR_MS = 3_600_000
const host = '127.0.0.1'
const { signal } = new AbortController()
const egress = createCheckedEgress(() => {})
const sleepForAnHour = (ended: AbortSignal) => wait(HOUR_MS, undefined, { signal: ended })

const listen = (port: number) => startTcpServer(socket => socket.destroy(), { port })

describe('the pause before the next attempt', () => {
  it('ends as soon as an unreachable server listens again, long before the back-off', async () => {
    const port = await findFreePort()
    const connect = vi.spyOn(Socket.prototype, 'connect')
    onTestFinished(() => connect.mockRestore())
    const returned = waitForServer({
      address: { host, port },
      egress,
      sleep: sleepForAnHour,
      signal,
    })
    // The server starts after the first probe.
    await vi.waitUntil(() => connect.mock.calls.length > 0)
    await listen(port)
    expect(await returned).toBe(true)
  })

  it('lasts as long as the back-off if the server is reachable, which is probed only once', async () => {
    const port = await findFreePort()
    const server = await listen(port)
    const slept = Promise.withResolvers<void>()
    const returned = waitForServer({
      address: { host, port },
      egress,
      sleep: () => slept.promise,
      signal,
    })
    await vi.waitUntil(() => server.connections.length === 1)
    slept.resolve()
    expect(await returned).toBe(false)
    expect(server.connections).toHaveLength(1)
  })

  it('ends if a server that was unreachable listens already when it is first probed', async () => {
    const port = await findFreePort()
    await listen(port)
    const returned = waitForServer({
      address: { host, port },
      egress,
      wasUnreachable: true,
      sleep: sleepForAnHour,
      signal,
    })
    expect(await returned).toBe(true)
  })

  it.each([
    ['has an unknown host name', { host: 'nowhere.invalid', port: 80 }],
    ['has no address', undefined],
  ])('lasts as long as the back-off if the server %s', async (_, address) => {
    expect(await waitForServer({ address, egress, sleep: async () => {}, signal })).toBe(false)
  })

  it('ends when it is aborted', async () => {
    const aborting = new AbortController()
    const port = await findFreePort()
    const address = { host, port }
    const returned = waitForServer({
      address,
      egress,
      sleep: sleepForAnHour,
      signal: aborting.signal,
    })
    aborting.abort()
    expect(await returned).toBe(false)
  })
})

it.each([
  ['http://10.0.0.7', { host: '10.0.0.7', port: 80 }],
  ['https://yard.example:8443/api', { host: 'yard.example', port: 8443 }],
  ['rtsp://user:secret@camera/stream', { host: 'camera', port: 554 }],
  ['rtsps://[fe80::1]/stream', { host: 'fe80::1', port: 322 }],
  ['/videos/street.mp4', undefined],
  ['test://ball', undefined],
])('the server of %s is %o', (url, address) => {
  expect(findServerAddress(url)).toEqual(address)
})
