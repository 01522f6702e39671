import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createUpstream } from './upstream-client.ts'

it('a service that does not respond, or does not listen, is named with the reason', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const media = createUpstream({ name: 'media', url, token: undefined })

  const answer = media.fetch('/streams/1').catch((error: Error) => error)
  await once(server, 'request')
  vi.advanceTimersByTime(5_000)
  expect(await answer).toMatchObject({
    code: 'unavailable',
    message: 'media has not responded within 5 s',
    value: { service: 'media' },
  })

  server.closeAllConnections()
  server.close()
  await expect(media.fetch('/streams/1')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'media is not reachable',
    value: { service: 'media' },
  })
})
