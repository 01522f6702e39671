import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTcpServer } from '../../test/fixtures/network/tcp-server.ts'
import { fetchResponsive } from './responsive-fetch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => vi.useRealTimers()
})

/** Starts a server that sends the headers of a response, and returns the response to continue. */
async function fetchFromServer(): Promise<{ server: ServerResponse; response: Response }> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const requested = once(server, 'request')
  const fetched = fetchResponsive(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [, serverResponse] = await requested
  serverResponse.flushHeaders()
  return { server: serverResponse, response: await fetched }
}

describe('fetchResponsive', () => {
  it('rejects if the server accepts the connection and stays silent', async () => {
    const { port } = await startTcpServer(() => void vi.advanceTimersByTime(30_000))
    await expect(fetchResponsive(`http://127.0.0.1:${port}`)).rejects.toThrow(
      'it has sent nothing for 30 s',
    )
  })

  it('fails while the body is read if the server sends nothing more', async () => {
    const { response } = await fetchFromServer()
    const text = response.text()
    vi.advanceTimersByTime(30_000)
    await expect(text).rejects.toThrow('it has sent nothing for 30 s')
  })

  it('has no limit for the whole body', async () => {
    const { server, response } = await fetchFromServer()
    let text = ''
    server.write('1')
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk)
      vi.advanceTimersByTime(20_000)
      if (text.length < 3) server.write(`${text.length + 1}`)
      else server.end()
    }
    expect(text).toBe('123')
  })
})
