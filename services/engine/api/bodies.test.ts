import { connect } from 'node:net'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

describe('a body over a real connection', () => {
  let engine: Service
  let server: ListeningServer
  beforeEach(async () => {
    engine = (await startEngine(temporaryFolder())).engine
    server = await listen(engine, '127.0.0.1', 0)
  })
  afterEach(async () => {
    await server.close()
    await engine.stop()
  })

  const post = async (body: string | ReadableStream) => {
    const headers = { 'Content-Type': 'application/json' }
    const url = `http://127.0.0.1:${server.port}/api/v3/sources`
    const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    const { code } = (await response.json()) as { code: string }
    return [response.status, code]
  }

  test('that is oversized is refused, also one that does not say its length', async () => {
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

  test('that is refused is taken all the same, and its connection goes on', async () => {
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
    // As simple clients do: everything is sent before anything is read.
    await send('POST /api/v3/sources', 'a'.repeat(20 << 20))
    await send('GET /api/v3/sources')
    await vi.waitUntil(() => answers.endsWith('[]'), { timeout: 60_000 })
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    socket.destroy()
  })

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('of deeply nested %s is refused', async (_, open, close) => {
    for (const levels of [65, 10_000, 500_000])
      expect(await post(`${open.repeat(levels)}0${close.repeat(levels)}`)).toEqual([400, 'syntax'])
  })
})
