import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { messageHeader, parseSinkAddress } from '@eyrie/contract/zmq-messages'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createTestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { findFreePort } from '../../../../test/fixtures/network/free-ports.ts'
import { sinkEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { subscribe } from '../../../../test/fixtures/network/zeromq-subscriber.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import type { SinkFrame, SinkRecord } from '../sink.ts'
import { MessageSink } from './message-sink.ts'

const PATIENCE = { timeout: 60_000, interval: 10 }
const person = { class: 'person', score: 0.5, bbox: { x: 0, y: 0, w: 0.5, h: 0.5 } }
const record = (n: number, channel = 3): SinkRecord => ({
  channel,
  source: 1,
  pipeline: 2,
  n,
  pts: n * 3600,
  time: '2030-01-01T00:00:00.000Z',
  objects: [person],
  counters: { door: { up: n } },
  events: [{ type: 'line-crossing', name: 'door' }],
})
const frame: SinkFrame = {
  discontinuity: false,
  epoch: 1,
  width: 640,
  height: 360,
  ring: undefined,
}

function openSink(query = '', path = join(createTemporaryFolder(), 'sink.sock')) {
  const address = parseSinkAddress(`ipc://${path}${query}`)
  const sink = new MessageSink({ ...address, bind: address.query.bind }, sinkEgress)
  onTestFinished(() => sink.close())
  return { sink, endpoint: address.endpoint, path }
}

/** Somebody who listens, and is known to the sink to do so. */
async function listenTo({ sink, endpoint }: ReturnType<typeof openSink>, topic?: string) {
  const received = subscribe(endpoint, topic)
  await vi.waitUntil(() => {
    sink.write(record(0), frame)
    return received.length > 0
  }, PATIENCE)
  return received
}

it('publishes records with their channel ids as topics', async () => {
  const opened = openSink('?payload=none&topic=gate/')
  const received = await listenTo(opened)
  opened.sink.write(record(7), frame)
  opened.sink.write(record(8, 4), frame)
  await vi.waitUntil(() => received.at(-1)?.header.n === 8, PATIENCE)
  const [seventh, eighth] = received.slice(-2)
  expect(seventh).toMatchObject({
    topic: 'gate/3',
    header: {
      ...{
        v: 1,
        pts: 7 * 3600,
        time: '2030-01-01T00:00:00.000Z',
        width: 640,
        height: 360,
        format: null,
      },
      ...{
        objects: [person],
        events: [{ type: 'line-crossing', name: 'door' }],
        counters: { door: { up: 7 } },
      },
    },
  })
  expect(seventh?.payload).toHaveLength(0)
  expect(eighth).toMatchObject({ topic: 'gate/4', header: { seq: 1 } })
  const numbers = received.slice(0, -1).map(({ header }) => header.seq)
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
})

it('sends the picture of exactly the frame, or no picture if it was overwritten', async () => {
  const opened = openSink('?width=64&quality=50')
  expect(opened.sink.view).toMatchObject({ format: 'JPEG', width: 64, quality: 50 })
  const received = await listenTo(opened)
  const path = join(createTemporaryFolder(), 'view.ring')
  const ring = createTestRing(path, { width: 64, height: 36, format: 'JPEG', payloadSize: 1000 })
  onTestFinished(() => ring.close())
  for (let n = 1; n <= 5; n++) ring.write(n, Buffer.alloc(n * 10, n))
  expect(opened.sink.failure).toBeUndefined()
  for (const n of [1, 3]) opened.sink.write(record(n), { ...frame, ring })
  await vi.waitUntil(() => received.at(-1)?.header.n === 3, PATIENCE)
  const [first, third] = received.slice(-2)
  expect(third).toMatchObject({
    header: { width: 64, height: 36, format: 'JPEG' },
    payload: Buffer.alloc(30, 3),
  })
  expect(first).toMatchObject({ header: { width: 640, format: null }, payload: Buffer.alloc(0) })
  expect(opened.sink.failure).toMatch(/1 messages were sent without their pictures/)
})

it('sends raw pictures unchanged', () => {
  const { sink } = openSink('?payload=raw')
  expect(sink.view).toMatchObject({ format: 'RGB', letterbox: true })
})

it('drops messages for a subscriber that does not read without affecting others', async () => {
  const opened = openSink('?payload=raw')
  const received = await listenTo(opened)
  const path = join(createTemporaryFolder(), 'view.ring')
  const ring = createTestRing(path, {
    width: 1000,
    height: 1000,
    format: 'RGB',
    payloadSize: 3_000_000,
  })
  onTestFinished(() => ring.close())
  const before = received.length
  for (let n = 1; n <= 100; n++) {
    ring.write(n, Buffer.alloc(3_000_000, n))
    opened.sink.write(record(n), { ...frame, ring })
  }
  await vi.waitUntil(() => received.length > before + 10, PATIENCE)
  expect(received.length - before).toBeLessThan(100)
  expect(opened.sink.failure).toMatch(/messages were lost/)
})

it('reports that another sink uses its address, and binds the address when it is free', async () => {
  const first = openSink()
  await listenTo(first)
  const second = openSink('', first.path)
  await vi.waitUntil(
    () => second.sink.failure?.includes('another sink uses this endpoint'),
    PATIENCE,
  )
  await first.sink.close()
  await vi.waitUntil(() => !second.sink.failure, PATIENCE)
  await listenTo(second)
})

it('deletes its socket file when it closes', async () => {
  const opened = openSink()
  await listenTo(opened)
  expect(existsSync(opened.path)).toBe(true)
  await opened.sink.close()
  expect(existsSync(opened.path)).toBe(false)
})

it('releases a port that was bound on all addresses', async () => {
  const port = await findFreePort()
  const open = () =>
    new MessageSink({ ...parseSinkAddress(`tcp://*:${port}?payload=none`), bind: true }, sinkEgress)
  for (const sink of [open(), open()]) {
    await vi.waitUntil(() => !sink.failure, PATIENCE)
    await sink.close()
  }
  // ZeroMQ closes its listening socket in a thread of its own.
  await vi.waitFor(async () => {
    const server = createServer().listen(port)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
  }, PATIENCE)
})

it('reports that another process uses the address', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address = parseSinkAddress(`tcp://127.0.0.1:${port}?payload=none`)
  const sink = new MessageSink({ ...address, bind: true }, sinkEgress)
  onTestFinished(() => sink.close())
  await vi.waitUntil(
    () => sink.failure?.includes(`${port} cannot be bound: the address is in use`),
    PATIENCE,
  )
})

it.each([
  ['tcp://127.0.0.1:8100', 'a service of this appliance'],
  ['tcp://localhost:8080', 'a service of this appliance'],
  ['tcp://[::ffff:127.0.0.1]:8200', 'a service of this appliance'],
  ['tcp://169.254.169.254:80', 'a metadata address'],
])('does not connect to %s, which is %s', async (url, problem) => {
  const address = parseSinkAddress(`${url}?bind=false&payload=none`)
  const sink = new MessageSink({ ...address, bind: false }, sinkEgress)
  onTestFinished(() => sink.close())
  await vi.waitUntil(() => sink.failure?.includes(`${problem}, and no sink may be there`), PATIENCE)
})

it.each([
  [
    'tcp://127.0.0.1:5555',
    { endpoint: 'tcp://127.0.0.1:5555', path: undefined, query: { bind: true, payload: 'jpeg' } },
  ],
  [
    'tcp://*:5555?payload=raw&width=320',
    { endpoint: 'tcp://*:5555', query: { payload: 'raw', width: 320 } },
  ],
  [
    'ipc:///run/a%20b.sock?bind=false',
    { endpoint: 'ipc:///run/a b.sock', path: '/run/a b.sock', query: { bind: false } },
  ],
])('parses the address %s', (url, expected) => {
  expect(parseSinkAddress(url)).toMatchObject(expected)
})

it.each([
  'tcp://127.0.0.1',
  'tcp://*:5555?bind=false',
  'tcp://127.0.0.1:99999',
  'tcp://127.0.0.1:5555/path',
  'tcp://127.0.0.1:5555?payload=png',
  'tcp://127.0.0.1:5555?width=1',
  'tcp://127.0.0.1:5555?speed=1',
  'ipc://relative/path',
  'udp://127.0.0.1:5555',
  'nonsense',
])('rejects the address %s', url => {
  expect(() => parseSinkAddress(url)).toThrow(/must be a URL such as|invalid query parameter/)
})

it('rejects a header without required fields', () => {
  expect(messageHeader.safeParse({ v: 1, pts: 1 }).success).toBe(false)
})
