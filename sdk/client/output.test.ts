import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { hello as helloSchema, outputQuery } from '@eyrie/contract'
import { createLog, listen } from '@eyrie/kit'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { createOutput, type Output } from '../../services/engine/output/output.ts'
import { startEngine } from '../../test/fixtures/engine.ts'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { createClient } from './client.ts'
import type { OutputOptions, ReceivedMessage } from './output.ts'

describe('the output as an iterable', () => {
  let folder: string
  let output: Output
  let server: WebSocketServer

  const serve = async (
    port: number,
    space: { logBytes: number; segmentBytes?: number } = { logBytes: 64 << 20 },
  ) => {
    output = createOutput({ folder, ...space, log: createLog('test', 'silent') })
    await output.start()
    server = new WebSocketServer({ host: '127.0.0.1', port, path: '/api/v3/output' })
    server.on('connection', (socket, { url }) => {
      const { searchParams } = new URL(url!, 'ws://engine')
      socket.on('close', output.follow(socket, outputQuery.parse(Object.fromEntries(searchParams))))
    })
    await once(server, 'listening')
  }
  const cut = () => {
    for (const socket of server.clients) socket.terminate()
  }
  const stop = async () => {
    cut()
    server.close()
    await output.stop()
  }
  const portOf = () => (server.address() as AddressInfo).port

  beforeEach(async () => {
    folder = temporaryFolder()
    await serve(0)
    onTestFinished(() => stop())
  })

  let published: number
  beforeEach(() => {
    published = 0
  })
  const publish = (count: number, padding = '') => {
    const place = { channel: 1, source: 1, pipeline: 1, pts: 0, epoch: 1, time: '2026-01-01T00:00:00.000Z' }
    for (let n = 0; n < count; n++)
      output.publish({ kind: 'event', ...place, data: { type: `event ${++published}${padding}` } })
  }

  const follow = (options?: OutputOptions) => {
    const over = new AbortController()
    onTestFinished(() => over.abort())
    const client = createClient({ url: `http://127.0.0.1:${portOf()}`, signal: over.signal })
    return { received: client.output(options), over }
  }

  test('begins with hello and goes on with what happens', async () => {
    const { received } = follow()
    expect((await received.next()).value).toMatchObject({ kind: 'hello', newest: 0 })
    publish(3)
    expect(await events(received, 3)).toEqual(['event 1', 'event 2', 'event 3'])
  })

  test('asks for the kinds and channels that are wanted', async () => {
    publish(1)
    const { received } = follow({ since: 1, kinds: ['state', 'event'], channels: [1, 2] })
    expect(await events(received, 1)).toEqual(['event 1'])
  })

  test('misses nothing and takes nothing twice when its connection breaks again and again', async () => {
    const lost = vi.fn()
    const { received } = follow({ onLost: lost })
    await received.next()
    for (let round = 0; round < 3; round++) {
      publish(200)
      cut()
      publish(100)
      await vi.waitFor(() => expect(output.status().newest).toBe(published))
      expect(await events(received, 300)).toEqual(numbered(published - 300, 300))
    }
    expect(lost).toHaveBeenCalled()
    expect(lost.mock.calls[0]![0].message).toMatch(/the engine at .* cannot be reached/)
  })

  test('goes on where it was once the engine is back', async () => {
    const { received } = follow()
    await received.next()
    publish(5)
    await events(received, 5)
    publish(5)
    const port = portOf()
    await stop()
    const next = events(received, 10)
    await serve(port)
    publish(5)
    expect(await next).toEqual(numbered(5, 10))
  })

  test('begins a log that is another one at its beginning', async () => {
    const { received } = follow()
    publish(20)
    await events(received, 1)
    const port = portOf()
    await stop()
    await rm(folder, { recursive: true })
    await serve(port)
    published = 100
    publish(2)
    const types = []
    while (types.at(-1) !== 'event 102') types.push(...(await events(received, 1)))
    expect(types.slice(-2)).toEqual(['event 101', 'event 102'])
  })

  test('acknowledges as a consumer what its loop is done with, and begins after that next time', async () => {
    const { received } = follow({ consumer: 'books' })
    await received.next()
    publish(5)
    await events(received, 3)
    await vi.waitFor(async () => {
      const again = follow({ consumer: 'books' })
      expect(await events(again.received, 3)).toEqual(numbered(2, 3))
    })
  })

  test('acknowledges no more than it is told to, where it is', async () => {
    let acknowledge: ((seq: number) => void) | undefined
    const acknowledgeBy = (told: (seq: number) => void) => {
      acknowledge = told
    }
    const { received } = follow({ consumer: 'books', acknowledgeBy })
    await received.next()
    publish(5)
    await events(received, 4)
    acknowledge!(2)
    await vi.waitFor(async () => {
      const again = follow({ consumer: 'books', acknowledgeBy })
      expect(await events(again.received, 3)).toEqual(numbered(2, 3))
    })
  })

  test('tells what the log no longer holds', async () => {
    await stop()
    await serve(0, { logBytes: 16 << 10, segmentBytes: 8 << 10 })
    publish(1000)
    await vi.waitFor(() => expect(output.status().newest).toBe(1000))
    const { received } = follow({ since: 1 })
    const [hello, gap, first] = [await received.next(), await received.next(), await received.next()]
    const { oldest } = helloSchema.parse(hello.value)
    expect(gap.value).toEqual({ kind: 'gap', from: 1, to: oldest - 1 })
    expect(first.value).toMatchObject({ seq: oldest })
  })

  test('loses nothing where its loop is slower than the engine', async () => {
    const { received } = follow()
    await received.next()
    const total = 5000
    publish(total, ` ${'x'.repeat(4000)}`)
    await vi.waitFor(() => expect(output.status().newest).toBe(total), { timeout: 20_000 })
    expect((await events(received, total)).map(type => type.split(' ', 2).join(' '))).toEqual(
      numbered(0, total),
    )
  })

  test('ends with its signal, and with the loop', async () => {
    const first = follow()
    await first.received.next()
    const pending = first.received.next()
    first.over.abort()
    expect(await pending).toEqual({ done: true, value: undefined })

    const { received } = follow()
    for await (const message of received) if (message.kind === 'hello') break
    await vi.waitFor(() => expect(output.status().followers).toBe(0))
  })
})

test("throws the engine's error where it refuses", async () => {
  const { engine } = await startEngine(temporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  const url = `http://127.0.0.1:${server.port}`
  await expect(createClient({ url }).output().next()).rejects.toMatchObject({ code: 'auth', status: 401 })
  const wrong = createClient({ url, token: 'secret' }).output({ channels: [-1] })
  await expect(wrong.next()).rejects.toMatchObject({ code: 'syntax', status: 400 })
})

/** What the next `count` events are; greetings and gaps aside. */
async function events(received: AsyncGenerator<ReceivedMessage, void>, count: number): Promise<string[]> {
  const types: string[] = []
  while (types.length < count) {
    const { value } = await received.next()
    if (value?.kind === 'event') types.push(value.data.type)
    else if (value?.kind !== 'hello') throw new Error(`unexpected: ${JSON.stringify(value)}`)
  }
  return types
}

const numbered = (after: number, count: number) =>
  Array.from({ length: count }, (_, i) => `event ${after + i + 1}`)
