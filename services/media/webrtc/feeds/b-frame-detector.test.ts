import { describe, expect, it } from 'vitest'
import { createStream } from '../../stream/live-stream.ts'
import { createBFrameDetector } from './b-frame-detector.ts'
import { createMonotonicPts } from './monotonic-pts.ts'

const FRAME = 3600
const track = (profile: number) => ({
  width: 64,
  height: 64,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, profile, 0, 30, 0xff, 0xe0, 0),
})

/** A stream with these frame numbers in decoding order; the first is a keyframe. */
function createTestStream(frames: number[]) {
  const stream = createStream(0)
  stream.begin(track(77))
  const write = (frame: number, keyframe: boolean) =>
    stream.write({
      pts: frame * FRAME,
      dts: 0,
      duration: FRAME,
      keyframe,
      data: Buffer.from([frame]),
    })
  for (const [index, frame] of frames.entries()) write(frame, index === 0)
  return { stream, write }
}

const B_FRAMES = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8]

describe('B-frame detector', () => {
  it('detects B-frames in the current GOP and remembers them in the next', () => {
    const detector = createBFrameDetector()
    const { stream, write } = createTestStream(B_FRAMES)
    expect(detector.hasBFrames(stream)).toBe(true)
    write(10, true)
    expect(detector.hasBFrames(stream)).toBe(true)
  })

  it('starts again with a new codec configuration', () => {
    const detector = createBFrameDetector()
    const { stream } = createTestStream(B_FRAMES)
    expect(detector.hasBFrames(stream)).toBe(true)
    stream.begin(track(100))
    expect(detector.hasBFrames(stream)).toBe(false)
  })

  it('reports none for pictures in display order and for an empty stream', () => {
    const detector = createBFrameDetector()
    expect(detector.hasBFrames(createTestStream([0, 1, 2, 3, 4, 5]).stream)).toBe(false)
    expect(detector.hasBFrames(createStream(0))).toBe(false)
  })
})

const toMonotonic = (frames: number[]) => {
  const monotonic = createMonotonicPts()
  return frames.map(frame => monotonic.next(frame * FRAME))
}

describe('monotonic presentation times', () => {
  it('leaves increasing times unchanged', () => {
    expect(toMonotonic([0, 1, 2, 4, 9])).toEqual([0, 1, 2, 4, 9].map(frame => frame * FRAME))
  })

  it('reports B-frames as out of order', () => {
    const shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]
    expect(toMonotonic(shown)).toContain(undefined)
  })

  it('increases across a clock correction', () => {
    const frames = [0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5, 4.5]
    const newest = 3 * FRAME
    expect(toMonotonic(frames)).toEqual([
      ...[0, FRAME, 2 * FRAME, newest],
      ...[newest + 1, newest + 2, newest + 3],
      ...[3.5 * FRAME, 4.5 * FRAME],
    ])
    const often = Array.from({ length: 20 }, (_, i) => [i * 100, i * 100 + 1, i * 100 + 0.5]).flat()
    expect(toMonotonic(often)).not.toContain(undefined)
  })
})
