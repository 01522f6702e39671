import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { FileSink, parseFileAddress } from './file-sink.ts'
import type { RotatingFileOptions } from './rotating-file.ts'
import type { SinkRecord } from './sink.ts'

const record = (n: number): SinkRecord => ({
  channel: 3,
  source: 1,
  pipeline: 2,
  n,
  pts: n * 3600,
  time: '2030-01-01T00:00:00.000Z',
  objects: [{ class: 'person', score: 0.5, bbox: { x: 0, y: 0, w: 0.5, h: 0.5 } }],
  counters: { door: { up: n } },
  events: [],
})
const lineBytes = Buffer.byteLength(`${JSON.stringify(record(1))}\n`)

function openSink(options: Partial<RotatingFileOptions> = {}): { sink: FileSink; path: string } {
  const path = join(createTemporaryFolder(), 'results.jsonl')
  const sink = new FileSink({ path, maxBytes: 1 << 20, keep: 5, ...options })
  onTestFinished(() => sink.close())
  return { sink, path }
}

const numbersIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line).n)

describe('file sink', () => {
  it('appends one line of JSON per record', async () => {
    const { sink, path } = openSink()
    writeFileSync(path, `${JSON.stringify(record(1))}\n`)
    sink.write(record(2))
    sink.write(record(3))
    await sink.close()
    expect(numbersIn(path)).toEqual([1, 2, 3])
    expect(JSON.parse(readFileSync(path, 'utf8').split('\n')[1]!)).toEqual(record(2))
  })

  it('rotates a full file and keeps the newest rotated files', async () => {
    const { sink, path } = openSink({ maxBytes: 2 * lineBytes, keep: 2 })
    for (let n = 1; n <= 9; n++) sink.write(record(n))
    await sink.close()
    const kept = [`${path}.2`, `${path}.1`, path].map(numbersIn)
    const last = kept.flat().length
    expect(kept.every(({ length }) => length === 1 || length === 2)).toBe(true)
    expect(kept.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].slice(-last))
    expect(existsSync(`${path}.3`)).toBe(false)
  })

  it('rotates at once if it keeps any number of files', async () => {
    const { sink, path } = openSink({ maxBytes: lineBytes, keep: 999_999_999 })
    for (let n = 1; n <= 3; n++) {
      sink.write(record(n))
      await vi.waitUntil(() => existsSync(path) && numbersIn(path)[0] === n)
    }
    await sink.close()
    expect([`${path}.2`, `${path}.1`, path].map(numbersIn)).toEqual([[1], [2], [3]])
  })

  it('rotates over a missing file, and leaves older files in place', async () => {
    const { sink, path } = openSink({ maxBytes: lineBytes, keep: 5 })
    for (const age of ['', '.1', '.3']) writeFileSync(path + age, `${JSON.stringify(record(1))}\n`)
    sink.write(record(2))
    await sink.close()
    expect(readdirSync(join(path, '..')).sort()).toEqual(
      ['', '.1', '.2', '.3'].map(age => `results.jsonl${age}`),
    )
    expect(numbersIn(path)).toEqual([2])
  })

  it('truncates a full file if no rotated files are kept', async () => {
    const { sink, path } = openSink({ maxBytes: 2 * lineBytes, keep: 0 })
    for (let n = 1; n <= 5; n++) sink.write(record(n))
    await sink.close()
    expect(readdirSync(join(path, '..'))).toEqual(['results.jsonl'])
    expect(numbersIn(path)).toEqual([5])
  })

  it('continues in a new file after the file is moved, without rotating the others', async () => {
    const { sink, path } = openSink({ maxBytes: lineBytes, keep: 2 })
    for (let n = 1; n <= 3; n++) sink.write(record(n))
    await vi.waitUntil(() => existsSync(path) && numbersIn(path)[0] === 3, { timeout: 60_000 })
    renameSync(path, `${path}.taken`)
    sink.write(record(4))
    await sink.close()
    expect([`${path}.2`, `${path}.1`, path].map(numbersIn)).toEqual([[1], [2], [4]])
  })

  it('reports a failing disk and writes queued records after it recovers', async () => {
    const folder = createTemporaryFolder()
    const path = join(folder, 'results', 'today.jsonl')
    writeFileSync(join(folder, 'results'), 'a file where a folder should be')
    const sink = new FileSink({ path, maxBytes: 1 << 20, keep: 0 })
    sink.write(record(1))
    await vi.waitUntil(() => sink.failure, { timeout: 60_000 })
    expect(sink.failure).toContain(`${path} cannot be written`)
    sink.write(record(2))
    rmSync(join(folder, 'results'))
    await sink.close()
    expect(numbersIn(path)).toEqual([1, 2])
    expect(sink.failure).toBeUndefined()
  })

  it('drops records instead of waiting for a slow disk, and reports that', async () => {
    const { sink, path } = openSink({ maxBytes: 64 << 20 })
    const large = { ...record(1), events: [{ type: 'x'.repeat(1 << 20) }] }
    for (let n = 1; n <= 12; n++) sink.write({ ...large, n })
    expect(sink.failure).toBe(`${path}: the disk is too slow, records are lost`)
    await sink.close()
    expect(numbersIn(path)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })
})

it.each([
  ['file:///output/a.jsonl', { path: '/output/a.jsonl', maxBytes: 64 << 20, keep: 5 }],
  [
    'file:///output/a%20b.jsonl?max_bytes=1000&keep=1',
    { path: '/output/a b.jsonl', maxBytes: 1000, keep: 1 },
  ],
  [
    'file:///output/a.jsonl?max_bytes=much&keep=',
    { path: '/output/a.jsonl', maxBytes: 64 << 20, keep: 5 },
  ],
  ['/output/a.jsonl', { path: '/output/a.jsonl', maxBytes: 64 << 20, keep: 5 }],
])('the address %s names path, size and number', (address, options) => {
  expect(parseFileAddress(address)).toEqual(options)
})
