import type { RecordedFrame } from '@eyrie/contract/recording'
import { beforeEach, describe, expect, it } from 'vitest'
import { createRecordedMetadata, type RecordedMetadata } from './recorded-metadata.ts'

const SECOND = 90_000
const EPOCH = 1

describe('recorded metadata', () => {
  let metadata: RecordedMetadata
  beforeEach(() => {
    metadata = createRecordedMetadata()
  })

  function add(at: number, frame: Partial<RecordedFrame> = {}) {
    const defaults = { channel: 1, epoch: 0, pts: 0, time: '', objects: [], counters: {} }
    metadata.add({ ...defaults, at, ...frame }, EPOCH)
  }
  const findCounters = (at: number) =>
    metadata.find({ epoch: EPOCH, pts: at * SECOND })?.metadata.counters

  it('keeps the first results of a frame that two responses contain', () => {
    add(1, { counters: { gate: { in: 1 } } })
    add(1, { counters: { gate: { in: 7 } } })
    expect(findCounters(1)).toEqual({ gate: { in: 1 } })
  })

  it('adds results that are earlier than the results of another channel', () => {
    add(2)
    add(1, { channel: 2, counters: { gate: { in: 3 } } })
    metadata.selectChannel(2)
    expect(findCounters(1)).toEqual({ gate: { in: 3 } })
  })

  it('adds results to an empty buffer after it was cleared', () => {
    add(9)
    metadata.clear()
    add(1, { counters: { gate: { in: 2 } } })
    expect(findCounters(1)).toEqual({ gate: { in: 2 } })
  })

  it('keeps the lines that are in force at the oldest time that is retained', () => {
    const [first, second] = [[], []]
    add(0, { shapes: first })
    add(500, { shapes: second })
    add(1000, { shapes: [] })
    expect(metadata.getShapes(450 * SECOND)).toBe(first)
    add(1101, { shapes: [] })
    expect(metadata.getShapes(450 * SECOND)).toBe(second)
  })
})
