import { describe, expect, test } from 'vitest'
import { createStream } from '../../stream/live-stream.ts'
import { createOrder, createReordering } from './reordering.ts'

const FRAME = 3600
const track = (profile: number) => ({
  width: 64,
  height: 64,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, profile, 0, 30, 0xff, 0xe0, 0),
})

/** A stream whose pictures come in this order, of which the first is a keyframe. */
function streamOf(frames: number[]) {
  const stream = createStream(0)
  stream.begin(track(77))
  const write = (frame: number, keyframe: boolean) =>
    stream.write({ pts: frame * FRAME, dts: 0, duration: FRAME, keyframe, data: Buffer.from([frame]) })
  for (const [at, frame] of frames.entries()) write(frame, at === 0)
  return { stream, write }
}

const B_FRAMES = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8]

describe('a stream with B-frames', () => {
  test('is known by the group of pictures under way, and stays known when another begins', () => {
    const reordering = createReordering()
    const { stream, write } = streamOf(B_FRAMES)
    expect(reordering.has(stream)).toBe(true)
    write(10, true)
    expect(reordering.has(stream)).toBe(true)
  })

  test('is looked at anew with another codec configuration', () => {
    const reordering = createReordering()
    const { stream } = streamOf(B_FRAMES)
    expect(reordering.has(stream)).toBe(true)
    stream.begin(track(100))
    expect(reordering.has(stream)).toBe(false)
  })

  test('is none where pictures come in their order, or where none has come yet', () => {
    const reordering = createReordering()
    expect(reordering.has(streamOf([0, 1, 2, 3, 4, 5]).stream)).toBe(false)
    expect(reordering.has(createStream(0))).toBe(false)
  })
})

const ordered = (frames: number[]) => {
  const order = createOrder()
  return frames.map(frame => order.next(frame * FRAME))
}

describe('the order of pictures', () => {
  test('is that of their times, which are left as they are', () => {
    expect(ordered([0, 1, 2, 4, 9])).toEqual([0, 1, 2, 4, 9].map(frame => frame * FRAME))
  })

  test('is another one with B-frames', () => {
    const shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]
    expect(ordered(shown)).toContain(undefined)
  })

  test('is the same after a clock was put right, and time never goes back', () => {
    const frames = [0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5, 4.5]
    const newest = 3 * FRAME
    expect(ordered(frames)).toEqual([
      ...[0, FRAME, 2 * FRAME, newest],
      ...[newest + 1, newest + 2, newest + 3],
      ...[3.5 * FRAME, 4.5 * FRAME],
    ])
    const often = Array.from({ length: 20 }, (_, i) => [i * 100, i * 100 + 1, i * 100 + 0.5]).flat()
    expect(ordered(often)).not.toContain(undefined)
  })
})
