import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { requestStream } from './streamed-response.ts'

/** Starts a server with this response. Returns its address. */
async function serve(respond: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => respond(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const { signal } = new AbortController()

async function readAll(path: string, maxSilenceMs?: number): Promise<string> {
  const { chunks } = await requestStream(path, { signal, maxSilenceMs })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  return text
}

describe('streamed response', () => {
  it('yields the body', async () => {
    const path = await serve(response => response.end('frames'))
    expect(await readAll(path)).toBe('frames')
  })

  it('fails when nothing arrives, before the response or in its body', async () => {
    const silent = await serve(() => {})
    const stalled = await serve(response => response.write('frames'))
    for (const path of [silent, stalled]) {
      await expect(readAll(path, 100)).rejects.toThrow('the appliance is unreachable')
    }
  })

  it('fails when the connection is lost', async () => {
    const path = await serve(response => response.write('frames', () => response.destroy()))
    await expect(readAll(path)).rejects.toMatchObject({ status: 0 })
  })

  it('ends the request with the iteration', async () => {
    const closed = Promise.withResolvers<void>()
    const path = await serve(response => {
      response.write('frames')
      response.once('close', closed.resolve)
    })
    const { chunks } = await requestStream(path, { signal })
    await chunks.next()
    await chunks.return(undefined)
    await closed.promise
  })
})
