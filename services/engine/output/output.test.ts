import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OutputQuery, outputMessage } from '@eyrie/contract'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { MessageDraft } from './message-draft.ts'
import { event, frame, isIncreasing, origin, type ReceivedMessage } from './messages.fixture.ts'
import { createOutput, type Output } from './output.ts'

describe('output', () => {
  let folder: string
  let output: Output
  let server: WebSocketServer
  let clients: WebSocket[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-output-'))
    output = await startOutput()
    server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    server.on('connection', (socket, request) => {
      const leave = output.follow(socket, JSON.parse(decodeURIComponent(request.url!.slice(2))))
      socket.on('close', leave)
    })
    await once(server, 'listening')
    clients = []
  })
  afterEach(async () => {
    for (const client of clients) client.terminate()
    server.close()
    await output.stop()
    await rm(folder, { recursive: true })
  })

  const startOutput = async ({ logBytes = 64 << 10, segmentBytes = 8 << 10 } = {}) => {
    const started = createOutput({
      folder,
      logBytes,
      segmentBytes,
      log: createLog('test', 'silent'),
    })
    await started.start()
    return started
  }

  /** A client and everything that it has received. */
  const connect = async (query: OutputQuery = {}) => {
    const { port } = server.address() as AddressInfo
    const client = new WebSocket(
      `ws://127.0.0.1:${port}/?${encodeURIComponent(JSON.stringify(query))}`,
    )
    clients.push(client)
    const received: ReceivedMessage[] = []
    client.on('message', text => received.push(JSON.parse(String(text))))
    await vi.waitFor(() => expect(received[0]?.kind).toBe('hello'))
    return { client, received }
  }

  test('greets a client with the id and range of the log', async () => {
    await connect()
    output.publish(event(1, 'first'))
    output.publish(frame(1, 1))
    await vi.waitFor(() => expect(output.status().newest).toBe(2))
    const { received } = await connect()
    expect(received).toEqual([{ kind: 'hello', log_id: expect.any(String), oldest: 1, newest: 1 }])
  })

  test('assigns no sequence number to frames that no client follows', async () => {
    output.publish(frame(1, 1))
    output.publish(event(1, 'first'))
    await vi.waitFor(() => expect(output.status().newest).toBe(1))
  })

  test('sends no count of a channel after the state with which its counters start at zero', async () => {
    const { received } = await connect()
    const count = (channel: number, up: number): MessageDraft => ({
      ...origin,
      kind: 'count',
      channel,
      data: { door: { up } },
    })
    for (const up of [1000, 1001]) {
      output.publish(count(1, up))
      output.publish(count(2, up))
    }
    output.publish({ ...origin, kind: 'state', channel: 1, data: { state: 'starting' } })
    await vi.waitFor(() => expect(received).toHaveLength(6))
    expect(received.slice(1)).toMatchObject([
      { kind: 'count', channel: 1, data: { door: { up: 1000 } } },
      { kind: 'count', channel: 2, data: { door: { up: 1000 } } },
      { kind: 'count', channel: 1, data: { door: { up: 1001 } } },
      { kind: 'state', channel: 1 },
      { kind: 'count', channel: 2, data: { door: { up: 1001 } } },
    ])
  })

  test('sends messages with increasing sequence numbers in the format of the contract', async () => {
    const { received } = await connect()
    for (let n = 1; n <= 50; n++) {
      output.publish(frame(1, n))
      if (n % 5 === 0) output.publish(event(1, `event ${n}`))
    }
    await vi.waitFor(() => expect(received).toHaveLength(61))
    const messages = received.slice(1)
    expect(messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
    for (const message of messages) expect(outputMessage.safeParse(message).error).toBeUndefined()
  })

  test('sends only the requested channels and kinds', async () => {
    const { received } = await connect({ channels: [2], kinds: ['event'] })
    output.publish(frame(2, 1))
    output.publish(event(1, 'elsewhere'))
    output.publish(event(2, 'here'))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    expect(received[1]).toMatchObject({ kind: 'event', channel: 2, data: { type: 'here' } })
  })

  test('drops only the message that cannot be encoded', async () => {
    const { received } = await connect()
    const circular: Record<string, unknown> = { type: 'circular' }
    circular.self = circular
    output.publish({ kind: 'event', channel: 1, ...origin, data: circular as { type: string } })
    output.publish(event(1, 'after'))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    expect(received[1]?.data).toEqual({ type: 'after' })
  })

  test('replays durable messages from `since`, then goes live without gap or duplicate', async () => {
    const sent = () => output.status().newest
    let published = 0
    const publish = (count: number) => {
      for (let i = 0; i < count; i++) output.publish(event(1, `e${++published}`))
    }
    publish(100)
    await vi.waitFor(() => expect(sent()).toBe(100))
    const connecting = connect({ since: 41 })
    for (let burst = 0; burst < 20; burst++) {
      publish(5)
      await new Promise(resolve => setImmediate(resolve))
    }
    const { received } = await connecting
    await vi.waitFor(() => expect(received.at(-1)?.seq).toBe(200))
    expect(received.slice(1).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 160 }, (_, i) => 41 + i),
    )
  })

  test('reports a gap if `since` is older than the log', async () => {
    for (let n = 1; n <= 1000; n++) output.publish(event(1, `event ${n}`))
    await vi.waitFor(() => expect(output.status().newest).toBe(1000))
    const { received } = await connect({ since: 4 })
    await vi.waitFor(() => expect(received.at(-1)?.seq).toBe(1000))
    const oldest = received[0]!.oldest!
    expect(received[1]).toEqual({ kind: 'gap', from: 4, to: oldest - 1 })
    expect(received[2]?.seq).toBe(oldest)
  })

  test('continues with higher sequence numbers and the same log id after a restart', async () => {
    output.publish(event(1, 'before'))
    await vi.waitFor(() => expect(output.status().newest).toBe(1))
    const before = await connect()
    await output.stop()
    output = await startOutput()
    output.publish(event(1, 'after'))
    const after = await connect({ since: 0 })
    await vi.waitFor(() => expect(after.received).toHaveLength(3))
    expect(after.received.slice(1).map(({ seq, data }) => [seq, data])).toEqual([
      [1, { type: 'before' }],
      [2, { type: 'after' }],
    ])
    expect(after.received[0]?.log_id).toBe(before.received[0]?.log_id)
  })

  test('sends an event only after the disk has stored it', async () => {
    const { received } = await connect()
    await rm(join(folder, 'log'), { recursive: true })
    output.publish(event(1, 'kept'))
    await vi.waitFor(() => expect(output.status().storing).toBe(false))
    expect(received).toHaveLength(1)
    expect(output.status().alarms).toEqual([
      expect.stringContaining('failed to write the output log'),
    ])
    await mkdir(join(folder, 'log'))
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 60_000 })
    expect(received[1]).toMatchObject({ kind: 'event', data: { type: 'kept' } })
    expect(output.status().storing).toBe(true)
  })

  test('names the channel that reports more events than the disk can store', async () => {
    await output.stop()
    output = await startOutput({ logBytes: 64 << 20, segmentBytes: 32 << 20 })
    const { received } = await connect({ kinds: ['state'] })
    for (let n = 0; n < 100_050; n++) output.publish(event(7, 'flood'))
    output.publish(event(1, 'own'))
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 60_000 })
    expect(received[1]?.data).toEqual({
      state: 'lost',
      reason: expect.stringMatching(
        /^50 messages were lost, because more are reported than the disk can store; 49 of them on channel 7: /,
      ),
    })
  })

  test('continues after the last message that a consumer acknowledged, even after a restart', async () => {
    const first = await connect({ consumer: 'archive' })
    for (let n = 1; n <= 10; n++) output.publish(event(1, `event ${n}`))
    await vi.waitFor(() => expect(first.received.at(-1)?.seq).toBe(10))
    first.client.send('{"ack":4}')
    first.client.send('{"ack":3}')
    first.client.close()
    await once(first.client, 'close')
    await output.stop()
    output = await startOutput()
    const again = await connect({ consumer: 'archive' })
    await vi.waitFor(() => expect(again.received.at(-1)?.seq).toBe(10))
    expect(again.received[1]?.seq).toBe(5)
    const other = await connect({ consumer: 'archive', since: 9 })
    await vi.waitFor(() => expect(other.received.at(-1)?.seq).toBe(10))
    expect(other.received[1]?.seq).toBe(9)
  })

  test('reports messages that a consumer missed to all clients and as an alarm', async () => {
    const consumer = await connect({ consumer: 'archive' })
    consumer.client.close()
    await once(consumer.client, 'close')
    const { received } = await connect({ kinds: ['state'] })
    for (let n = 1; n <= 1000; n++) output.publish(event(1, `event ${n}`))
    await vi.waitFor(() => expect(output.status().newest).toBeGreaterThanOrEqual(1000))
    await vi.waitFor(() => expect(received.at(-1)?.data).toMatchObject({ state: 'overrun' }))
    const lost = expect.stringMatching(
      /^messages up to \d+ were removed before archive acknowledged them/,
    )
    expect(output.status().alarms).toEqual([lost])

    const late = await connect({ consumer: 'archive' })
    await vi.waitFor(() => expect(late.received[1]).toMatchObject({ kind: 'gap', from: 1 }))
    late.client.send(`{"ack":${output.status().newest}}`)
    await vi.waitFor(() => expect(output.status().alarms).toEqual([]))
  })

  test('raises an alarm while most of the log is retained for a disconnected consumer', async () => {
    const { client } = await connect({ consumer: 'archive' })
    client.close()
    await once(client, 'close')
    for (let sent = 20; output.listConsumers()[0]!.held < 0.5; sent += 20) {
      for (let n = 1; n <= 20; n++) output.publish(event(1, `event ${sent - n}`))
      await vi.waitFor(() => expect(output.status().newest).toBe(sent))
    }
    expect(output.listConsumers()).toEqual([
      {
        name: 'archive',
        acknowledged: 0,
        connected: false,
        seen: expect.any(String),
        held: expect.any(Number),
      },
    ])
    const alarm =
      /^\d+ % of the output log is retained for consumer archive, last seen at .*: reconnect it, or remove it/
    expect(output.status().alarms).toEqual([expect.stringMatching(alarm)])
    await output.removeConsumer('archive')
    expect([output.listConsumers(), output.status().alarms]).toEqual([[], []])
    await output.stop()
    output = await startOutput()
    expect(output.listConsumers()).toEqual([])
  })

  test('removes only disconnected consumers', async () => {
    const { client } = await connect({ consumer: 'archive' })
    await expect(output.removeConsumer('archive')).rejects.toMatchObject({ code: 'reference' })
    client.close()
    await once(client, 'close')
    await vi.waitFor(() => expect(output.listConsumers()).toMatchObject([{ connected: false }]))
    await output.removeConsumer('archive')
    await expect(output.removeConsumer('archive')).rejects.toMatchObject({ code: 'id' })
  })

  test.each([
    ['{"ack":1}', {}],
    ['{"ack":4711}', { consumer: 'archive' }],
    ['{"ack":"1"}', { consumer: 'archive' }],
    ['acknowledged', { consumer: 'archive' }],
  ])('closes the connection on %s of %j', async (text, query) => {
    const { client } = await connect(query)
    client.send(text)
    const [code, reason] = await once(client, 'close')
    expect([code, String(reason)]).toEqual([1008, expect.stringMatching(/\w/)])
  })

  test('sends durable messages from the log to a client that has fallen far behind', async () => {
    await output.stop()
    output = await startOutput({ logBytes: 256 << 20, segmentBytes: 16 << 20 })
    const { client, received } = await connect()
    client.pause()
    const total = 3000
    for (let n = 1; n <= total; n++) output.publish(event(1, `${n} ${'x'.repeat(10_000)}`))
    await vi.waitFor(() => expect(output.status().newest).toBe(total), { timeout: 60_000 })
    client.resume()
    await vi.waitFor(() => expect(received).toHaveLength(total + 1), { timeout: 60_000 })
    expect(received.slice(1).map(({ seq }) => seq)).toEqual(
      Array.from({ length: total }, (_, i) => i + 1),
    )
  })

  test('skips frames of a slow client and reports their number, but never skips an event', async () => {
    const { client, received } = await connect()
    client.pause()
    const padding = 'x'.repeat(10_000)
    let published = 0
    const flood = () => {
      for (let n = 0; n < 100; n++) output.publish(frame(1, ++published, padding))
      output.publish(event(1, `after ${published}`))
    }
    for (let round = 0; round < 40; round++) {
      flood()
      await new Promise(resolve => setImmediate(resolve))
    }
    client.resume()
    await vi.waitFor(() => expect(received.at(-1)?.data).toEqual({ type: `after ${published}` }))
    await vi.waitFor(() => {
      output.publish(frame(1, ++published))
      expect(received.at(-1)?.kind).toBe('frame')
    })
    await vi.waitFor(() => expect(received.at(-1)?.data).toMatchObject({ n: published }))
    const frames = received.filter(({ kind }) => kind === 'frame')
    const dropped = frames.reduce((sum, frame) => sum + (frame.dropped ?? 0), 0)
    expect(dropped).toBeGreaterThan(0)
    expect(frames.length + dropped).toBe(published)
    expect(received.filter(({ kind }) => kind === 'event')).toHaveLength(40)
    expect(isIncreasing(received.slice(1).map(({ seq }) => seq!))).toBe(true)
  })
})
