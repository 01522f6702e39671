import { describe, expect, it } from 'vitest'
import { createGopBuffer } from './gop-buffer.ts'

const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1),
}

/** One picture per second, a keyframe every three seconds. */
function fill(buffer: ReturnType<typeof createGopBuffer>, from: number, to: number, bytes = 1) {
  for (let n = from; n < to; n++) {
    const pts = n * 90_000
    const data = Buffer.alloc(bytes)
    buffer.add({ pts, dts: pts, duration: 90_000, keyframe: n % 3 === 0, data, sequence: n }, track)
  }
}

const sequences = (buffer: ReturnType<typeof createGopBuffer>) =>
  buffer.gops().map(({ units }) => units.map(({ sequence }) => sequence))

describe('GOP buffer', () => {
  it('contains only the current GOP by default', () => {
    const buffer = createGopBuffer(1000)
    fill(buffer, 0, 8)
    expect(sequences(buffer)).toEqual([[6, 7]])
  })

  it('retains whole GOPs that cover the configured seconds', () => {
    const buffer = createGopBuffer(1000)
    buffer.retain(4)
    fill(buffer, 0, 11)
    expect(sequences(buffer)).toEqual([
      [6, 7, 8],
      [9, 10],
    ])
    fill(buffer, 11, 12)
    expect(sequences(buffer)[0]).toEqual([6, 7, 8])
  })

  it('drops the oldest GOPs first when it is full', () => {
    const buffer = createGopBuffer(50)
    buffer.retain(60)
    fill(buffer, 0, 8, 10)
    expect(sequences(buffer)).toEqual([
      [3, 4, 5],
      [6, 7],
    ])
  })

  it('ends a GOP at an interruption and retains it', () => {
    const buffer = createGopBuffer(1000)
    buffer.retain(60)
    fill(buffer, 0, 2)
    buffer.interrupt()
    expect(buffer.currentUnits()).toEqual([])
    fill(buffer, 2, 5)
    expect(sequences(buffer)).toEqual([
      [0, 1],
      [3, 4],
    ])
  })

  it.each([
    [2, [[3, 4, 5], [6, 7, 8], [9]]],
    [4, [[6, 7, 8], [9]]],
    [7, [[9]]],
  ])('removes the GOP of picture %i and those before it', (picture, remaining) => {
    const buffer = createGopBuffer(1000)
    buffer.retain(60)
    fill(buffer, 0, 8)
    buffer.removeThrough(({ units }) => units.some(({ sequence }) => sequence === picture))
    fill(buffer, 8, 10)
    expect(sequences(buffer)).toEqual(remaining)
  })
})
