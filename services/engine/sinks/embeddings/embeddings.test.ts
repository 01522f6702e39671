import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sinkEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { type PostgresServer, startPostgres } from '../../../../test/fixtures/processes/postgres.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { FileSink } from '../file-sink.ts'
import type { SinkRecord } from '../sink.ts'
import { toEmbeddingRecords } from './embedding-record.ts'
import { PostgresEmbeddingSink } from './postgres-embedding-sink.ts'
import { parseTableAddress } from './table-address.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }
const bbox = { x: 0.25, y: 0.5, w: 0.125, h: 0.75 }

/** A frame with a person that has a vector and a car that has none. */
const record = (n: number, embedding = [n, 0.5, -1]): SinkRecord => ({
  ...{
    channel: 3,
    source: 1,
    pipeline: 2,
    n,
    pts: n * 3600,
    time: '2030-01-01T00:00:00.000Z',
    counters: {},
    events: [],
  },
  objects: [
    { class: 'person', score: 0.5, bbox, track: 7, embedding },
    { class: 'car', score: 0.5, bbox },
  ],
})

it('embedding sink writes one line of JSON per object with an embedding to a file', async () => {
  const path = join(createTemporaryFolder(), 'vectors.jsonl')
  const sink = new FileSink({ path, maxBytes: 1 << 20, keep: 0 }, toEmbeddingRecords)
  sink.write(record(1))
  sink.write({ ...record(2), objects: [] })
  sink.write(record(3))
  await sink.close()
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  expect(lines.map(line => JSON.parse(line))).toEqual(
    [1, 3].map(n => ({
      ...{ channel: 3, source: 1, pts: n * 3600, time: '2030-01-01T00:00:00.000Z' },
      ...{ track: 7, class: 'person', bbox, embedding: [n, 0.5, -1] },
    })),
  )
})

describe('embedding table', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres()
  }, 180_000)
  afterAll(() => server.remove())
  beforeEach(async () => {
    await server.sql`drop table if exists embeddings`
  })

  function openSink(password = 'plugh') {
    const url = `postgres://eyrie:${password}@127.0.0.1:${server.port}/eyrie`
    const sink = new PostgresEmbeddingSink(parseTableAddress(url), sinkEgress)
    onTestFinished(() => sink.close())
    return sink
  }

  const tracks = () =>
    server.sql`select embedding[1]::int as n from embeddings order by id`.then(rows =>
      rows.map(({ n }) => n),
    )

  it('is created if missing and contains the same records as a file', async () => {
    const sink = openSink()
    for (let n = 1; n <= 500; n++) sink.write(record(n))
    await sink.close()
    expect(sink.failure).toBeUndefined()
    expect(await tracks()).toEqual(Array.from({ length: 500 }, (_, i) => i + 1))
    const [first] = await server.sql`select * from embeddings order by id limit 1`
    expect(first).toEqual({
      ...{
        id: '1',
        channel: 3,
        source: 1,
        pts: '3600',
        time: new Date('2030-01-01'),
        track: '7',
        class: 'person',
      },
      ...{ bbox: [0.25, 0.5, 0.125, 0.75], embedding: [1, 0.5, -1] },
    })
  })

  it('receives queued embeddings after the server was unreachable', async () => {
    const sink = openSink()
    sink.write(record(1))
    await vi.waitUntil(async () => (await tracks().catch(() => [])).length === 1, PATIENCE)
    await server.kill()
    sink.write(record(2))
    await vi.waitUntil(() => sink.failure, PATIENCE)
    expect(sink.failure).toMatch(/^failed to write embeddings to 127\.0\.0\.1:\d+\/eyrie: /)
    sink.write(record(3))
    await server.start()
    await vi.waitUntil(() => !sink.failure, PATIENCE)
    await vi.waitUntil(async () => (await tracks().catch(() => [])).length === 3, PATIENCE)
    expect(await tracks()).toEqual([1, 2, 3])
  })

  it('reports a rejected login without revealing the password', async () => {
    const sink = openSink('wrong-password')
    sink.write(record(1))
    await vi.waitUntil(() => sink.failure, PATIENCE)
    expect(sink.failure).toContain('password authentication failed for user "eyrie"')
    expect(sink.failure).not.toContain('wrong-password')
  })

  it('loses and reports only the embeddings that the database rejects', async () => {
    await server.sql`
      create table embeddings (id bigint generated always as identity, channel int, source int, pts bigint,
        time timestamptz, track bigint, class text, bbox real[], embedding real[] check (embedding[2] > 0))`
    await server.sql`grant all on embeddings to eyrie`
    const sink = openSink()
    sink.write(record(1, [1, -1]))
    await vi.waitUntil(() => sink.failure, PATIENCE)
    expect(sink.failure).toContain('1 embeddings were lost')
    sink.write(record(2))
    await vi.waitUntil(async () => (await tracks()).length === 1, PATIENCE)
    expect(await tracks()).toEqual([2])
  })

  it('receives embeddings in the syntax of pgvector if its column has that type', async () => {
    await server.sql`create type vector`
    await server.sql`create function vector_in(cstring) returns vector language internal immutable strict as 'textin'`
    await server.sql`create function vector_out(vector) returns cstring language internal immutable strict as 'textout'`
    await server.sql`create type vector (input = vector_in, output = vector_out, like = text)`
    await server.sql`
      create table embeddings (id bigint generated always as identity, channel int, source int, pts bigint,
        time timestamptz, track bigint, class text, bbox real[], embedding vector)`
    await server.sql`grant all on embeddings to eyrie`
    const sink = openSink()
    sink.write(record(1))
    await sink.close()
    expect(await server.sql`select embedding::text from embeddings`).toEqual([
      { embedding: '[1,0.5,-1]' },
    ])
  })

  it.each(['127.0.0.1:8100', 'localhost:8080', '169.254.169.254:5432'])(
    'is not looked for at %s',
    async server => {
      const url = `postgres://eyrie:plugh@${server}/eyrie`
      const sink = new PostgresEmbeddingSink(parseTableAddress(url), sinkEgress)
      onTestFinished(() => sink.close())
      sink.write(record(1))
      await vi.waitUntil(() => sink.failure?.includes('and no sink may be there'), PATIENCE)
    },
  )

  it('loses embeddings beyond the maximum queue length', async () => {
    await server.kill()
    const sink = openSink()
    const long = Array.from({ length: 2048 }, () => 0.5)
    for (let n = 1; n <= 3000; n++) sink.write(record(n, long))
    await vi.waitUntil(() => sink.failure, PATIENCE)
    await server.start()
    await vi.waitUntil(() => sink.failure?.includes('embeddings were lost'), PATIENCE)
    await sink.close()
    const [{ count }] = (await server.sql`select count(*)::int from embeddings`) as unknown as [
      { count: number },
    ]
    expect(count).toBe((4 << 20) / 2048)
  })
})

it.each([
  [
    'postgres://me@host/vectors',
    { host: 'host', port: 5432, database: 'vectors', username: 'me', table: 'embeddings' },
  ],
  [
    'postgresql://me:p%40ss@[::1]:5433/v?table=faces',
    { host: '::1', port: 5433, password: 'p@ss', table: 'faces' },
  ],
])('the address %s says where', (address, expected) => {
  expect(parseTableAddress(address)).toMatchObject(expected)
})

it.each([
  'postgres://host/vectors',
  'postgres://me:xyzzy@host',
  'postgres://me:xyzzy@/vectors',
  'postgres://me:xyzzy@host/vectors?table=a;drop',
  'postgres://me:xyzzy@host/vectors?speed=1',
  'mysql://me:xyzzy@host/vectors',
])('rejects the address %s without revealing its password', address => {
  expect(() => parseTableAddress(address)).toThrow(
    /must have the form|query of the address is invalid/,
  )
  expect(() => parseTableAddress(address)).not.toThrow(/xyzzy/)
})
