import { describe, expect, test } from 'vitest'
import { createStream } from '../live/stream.ts'
import { createReordering } from './reordering.ts'

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
