import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Range } from './log-reader.ts'
import { createOutputLog, type OutputLog } from './output-log.ts'

const SEGMENT_BYTES = 4096

describe('output log', () => {
  let folder: string
  let logs: OutputLog[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-output-log-'))
    logs = []
  })
  afterEach(async () => {
    for (const log of logs) await log.close()
    await rm(folder, { recursive: true })
  })

  const openLog = async (bytes = 1 << 20, segmentBytes = SEGMENT_BYTES) => {
    const log = createOutputLog({
      folder,
      maxBytes: bytes,
      segmentBytes,
      log: createLog('test', 'silent'),
    })
    logs.push(log)
    await log.open()
    return log
  }

  test('returns appended records after reopening', async () => {
    const log = await openLog()
    await log.append([record(1), record(5)])
    await log.append([record(6)])
    expect(await readAll(log, 0)).toEqual({ seqs: [1, 5, 6], gaps: [] })
    await log.close()
    const again = await openLog()
    await again.append([record(9)])
    expect(await readAll(again, 1)).toEqual({ seqs: [5, 6, 9], gaps: [] })
    expect(again.removedUpTo()).toBe(0)
  })

  test('spans several segments and can be read from any position', async () => {
    const log = await openLog()
    for (let seq = 1; seq <= 200; seq += 4) await log.append([0, 1, 2, 3].map(n => record(seq + n)))
    expect((await segments(folder)).length).toBeGreaterThan(5)
    for (const after of [0, 57, 199, 200]) {
      const { seqs } = await readAll(log, after)
      expect(seqs).toEqual(Array.from({ length: 200 - after }, (_, index) => after + 1 + index))
    }
  })

  test('deletes the oldest records beyond its maximum size', async () => {
    const log = await openLog(3 * SEGMENT_BYTES)
    for (let seq = 1; seq <= 200; seq++) await log.append([record(seq)])
    expect(await segments(folder)).toHaveLength(3)
    const { seqs, gaps } = await readAll(log, 10)
    expect(gaps).toEqual([{ from: 11, to: log.removedUpTo() }])
    expect(seqs[0]).toBe(log.removedUpTo() + 1)
    expect(seqs.at(-1)).toBe(200)
  })

  test('reports a gap to a reader whose segment was removed', async () => {
    const log = await openLog(2 * SEGMENT_BYTES)
    await log.append([record(1)])
    const reader = log.createReader(0)
    expect((await reader.next()).records.map(({ seq }) => seq)).toEqual([1])
    for (let seq = 2; seq <= 100; seq++) await log.append([record(seq)])
    expect((await reader.next()).gap).toEqual({ from: 2, to: log.removedUpTo() })
    expect((await reader.next()).records[0]?.seq).toBe(log.removedUpTo() + 1)
  })

  test.each([
    ['cut short', (bytes: Buffer, end: number) => bytes.fill(0, end - 20)],
    ['half written', (bytes: Buffer, end: number) => bytes.fill(7, end - 20, end - 10)],
    [
      'followed by leftovers',
      (bytes: Buffer, end: number) => bytes.fill(0, end - 20, end).fill(9, end, end + 50),
    ],
  ])('erases a last record that is %s and continues in its place', async (_, damage) => {
    const log = await openLog()
    await log.append([record(1), record(2), record(3)])
    await log.close()
    const [path] = await segments(folder)
    const bytes = await readFile(path!)
    damage(bytes, bytes.findLastIndex(byte => byte !== 0) + 1)
    await writeFile(path!, bytes)
    const again = await openLog()
    expect(await readAll(again, 0)).toEqual({ seqs: [1, 2], gaps: [] })
    await again.append([record(11)])
    expect(await readAll(again, 0)).toEqual({ seqs: [1, 2, 11], gaps: [] })
  })

  test('never mistakes old records after a torn one for new ones', async () => {
    const log = await openLog()
    await log.append([record(1), record(2), record(3)])
    await log.close()
    const [path] = await segments(folder)
    const file = await open(path!, 'r+')
    await file.write(Buffer.from([0xff]), 0, 1, 16)
    await file.close()
    const again = await openLog()
    await again.append([record(4)])
    expect(await readAll(again, 0)).toEqual({ seqs: [4], gaps: [] })
  })

  test('reports a gap for a damaged segment', async () => {
    const log = await openLog()
    for (let seq = 1; seq <= 100; seq++) await log.append([record(seq)])
    const [first, second] = await segments(folder)
    const file = await open(first!, 'r+')
    await file.write(Buffer.from([0xff]), 0, 1, 16)
    await file.close()
    const { seqs, gaps } = await readAll(log, 0)
    const next = Number(second!.slice(-20, -4))
    expect(gaps).toEqual([{ from: 1, to: next - 1 }])
    expect(seqs[0]).toBe(next)
  })

  test('reads a record larger than the read buffer', async () => {
    const log = await openLog(64 << 20, 16 << 20)
    const text = JSON.stringify({ seq: 2, data: 'x'.repeat(1 << 20) })
    await log.append([record(1), { seq: 2, text }, record(3)])
    const reader = log.createReader(1)
    const read = []
    while (!reader.isAtEnd()) read.push(...(await reader.next()).records)
    expect(read).toEqual([{ seq: 2, text }, record(3)])
  })

  test('reads from a position far inside a segment', async () => {
    const log = await openLog(64 << 20, 16 << 20)
    await log.append(
      Array.from({ length: 1000 }, (_, n) => ({ seq: n + 1, text: 'x'.repeat(1000) })),
    )
    const { seqs } = await readAll(log, 700)
    expect(seqs).toEqual(Array.from({ length: 300 }, (_, n) => 701 + n))
  })

  test('stores a record larger than a segment', async () => {
    const log = await openLog()
    const text = 'x'.repeat(3 * SEGMENT_BYTES)
    await log.append([record(1), { seq: 2, text }, record(3)])
    expect(await readAll(log, 0)).toEqual({ seqs: [1, 2, 3], gaps: [] })
  })

  test('reports no gap for sequence numbers that were never appended', async () => {
    const log = await openLog()
    await log.append([record(70)])
    expect(log.removedUpTo()).toBe(0)
    expect(await readAll(log, 0)).toEqual({ seqs: [70], gaps: [] })
  })

  test('ignores records that were already appended', async () => {
    const log = await openLog()
    await log.append([record(1), record(2)])
    await log.append([record(1), record(2), record(3)])
    expect(await readAll(log, 0)).toEqual({ seqs: [1, 2, 3], gaps: [] })
  })
})

const record = (seq: number) => ({
  seq,
  text: JSON.stringify({ seq, kind: 'event', data: 'd'.repeat(60) }),
})

const segments = async (folder: string) =>
  (await readdir(folder)).sort().map(name => join(folder, name))

async function readAll(log: OutputLog, after: number): Promise<{ seqs: number[]; gaps: Range[] }> {
  const reader = log.createReader(after)
  const seqs: number[] = []
  const gaps: Range[] = []
  while (!reader.isAtEnd()) {
    const { gap, records } = await reader.next()
    if (gap) gaps.push(gap)
    seqs.push(...records.map(({ seq }) => seq))
  }
  return { seqs, gaps }
}
