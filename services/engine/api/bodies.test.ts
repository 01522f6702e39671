import { once } from 'node:events'
import { connect } from 'node:net'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

test.each(['Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n', 'Content-Length: 5000000\r\n\r\n{'])(
  'a stranger is rejected before the body has arrived: %j',
  async body => {
    const { engine } = await startEngine(createTemporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
    const server = await listen(engine, '127.0.0.1', 0)
    for (const path of [
      '/api/v3/sources',
      '/api/v3/plugins',
      '/api/v2/sources',
      '/api/v1/sources',
    ]) {
      const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${body}`,
      )
      const [answer] = await once(socket, 'data')
      expect([path, answer]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 401 /)])
      socket.destroy()
    }
    await server.close()
    await engine.stop()
  },
)

describe('request body over a real connection', () => {
  let engine: Service
  let server: ListeningServer
  beforeEach(async () => {
    engine = (await startEngine(createTemporaryFolder())).engine
    server = await listen(engine, '127.0.0.1', 0)
  })
  afterEach(async () => {
    await server.close()
    await engine.stop()
  })

  const post = async (body: string | ReadableStream) => {
    const headers = { 'Content-Type': 'application/json' }
    const url = `http://127.0.0.1:${server.port}/api/v3/sources`
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    const { code } = (await response.json()) as { code: string }
    return [response.status, code]
  }

  test('is rejected if it is too large, with or without Content-Length', async () => {
    const mebibyte = 'a'.repeat(1 << 20)
    expect(await post(mebibyte.repeat(5))).toEqual([413, 'size'])
    let sent = 0
    const endless = new ReadableStream({
      pull: controller => {
        if (++sent > 64) controller.close()
        else controller.enqueue(new TextEncoder().encode(mebibyte))
      },
    })
    expect(await post(endless)).toEqual([413, 'size'])
    expect(sent).toBeLessThan(64)
  })

  test('is read to the end after it was rejected, so that the connection can be reused', async () => {
    const socket = connect(server.port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8').on('data', text => {
      answers += text
    })
    const send = (head: string, body = '') =>
      new Promise<void>((resolve, reject) =>
        socket.write(
          `${head} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          error => (error ? reject(error) : resolve()),
        ),
      )
    // Like simple clients, send everything before reading anything.
    await send('POST /api/v3/sources', 'a'.repeat(20 << 20))
    await send('GET /api/v3/sources')
    await vi.waitUntil(() => answers.endsWith('[]'), { timeout: 60_000 })
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    socket.destroy()
  })

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('is rejected if it contains deeply nested %s', async (_, open, close) => {
    for (const levels of [65, 10_000, 500_000]) {
      expect(await post(`${open.repeat(levels)}0${close.repeat(levels)}`)).toEqual([400, 'syntax'])
    }
  })
})
