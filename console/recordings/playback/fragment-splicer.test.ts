import { beforeEach, describe, expect, it } from 'vitest'
import { createFragmentSplicer, type FragmentSplicer } from './fragment-splicer.ts'

const SECOND = 90_000
const START_MS = 1_000_000

/** The seconds after `START_MS` at which the fragments of a recording were captured. */
type Captured = readonly number[]

/**
 * The fragments of a response, each a second long. The media service leaves out long gaps, and lets
 * the last frame before a short one last longer.
 */
function createResponse(captured: Captured) {
  let start = 0
  return captured.map((second, index) => {
    const next = captured[index + 1]
    const distance = next === undefined || next - second > 2 ? 1 : next - second
    const fragment = {
      bytes: new Uint8Array(),
      frames: [start, start + SECOND / 2],
      end: start + SECOND,
      originMs: START_MS + second * 1000 - start / 90,
      capturedMs: START_MS + second * 1000,
      decoding: { start, end: start + distance * SECOND },
      isLast: next === undefined,
    }
    start += distance * SECOND
    return fragment
  })
}

describe('fragment splicer', () => {
  let splicer: FragmentSplicer
  beforeEach(() => {
    splicer = createFragmentSplicer()
  })

  /** Splices a response. Returns the capture times and places of the fragments, in seconds. */
  function splice(captured: Captured) {
    splicer.startResponse()
    return createResponse(captured).flatMap(splicer.splice).map(describeFragment)
  }
  const describeFragment = ({ capturedMs, decoding }: FragmentSplicer['newest'] & object) => ({
    captured: (capturedMs - START_MS) / 1000,
    start: decoding.start / SECOND,
    end: decoding.end / SECOND,
  })

  it('continues a response with one that starts with the last fragment of it', () => {
    expect(splice([0, 1, 2])).toEqual([
      { captured: 0, start: 0, end: 1 },
      { captured: 1, start: 1, end: 2 },
    ])
    expect(splice([2, 3, 4])).toEqual([
      { captured: 2, start: 2, end: 3 },
      { captured: 3, start: 3, end: 4 },
    ])
  })

  it('lets the last frame before a gap between two responses last until the next one', () => {
    splice([0, 1])
    expect(splice([1, 2.5, 3.5])).toEqual([
      { captured: 1, start: 1, end: 2.5 },
      { captured: 2.5, start: 2.5, end: 3.5 },
    ])
  })

  it('skips the fragments from the keyframe on that it knows', () => {
    splice([0, 1, 2])
    expect(splice([1, 2, 3]).map(({ captured }) => captured)).toEqual([2])
  })

  it('does not repeat a fragment after an interrupted response', () => {
    const [first, second] = createResponse([0, 1, 2])
    splicer.startResponse()
    splicer.splice(first!)
    splicer.splice(second!)
    expect(splice([1, 2, 3])).toEqual([{ captured: 2, start: 2, end: 3 }])
  })

  it('continues after files that were deleted between two requests', () => {
    splice([0, 1])
    expect(splice([10, 11, 12])).toEqual([
      { captured: 1, start: 1, end: 2 },
      { captured: 10, start: 2, end: 3 },
      { captured: 11, start: 3, end: 4 },
    ])
  })

  it('plays all fragments when the clock was set back between two responses', () => {
    splice([0, 1])
    expect(splice([0.75, 1.75, 2.75])).toEqual([
      { captured: 1, start: 1, end: 2 },
      { captured: 0.75, start: 2, end: 3 },
      { captured: 1.75, start: 3, end: 4 },
    ])
  })

  it('keeps the relation between the times of frames and the times of their recording', () => {
    splice([0, 1, 8])
    splice([8, 9, 10])
    const { frames, originMs, offsetS } = splicer.newest!
    expect(originMs + frames[0]! / 90).toBe(START_MS + 10_000)
    expect({ first: frames[0]! / SECOND, offsetS }).toEqual({ first: 4, offsetS: 2 })
  })

  it('returns the last fragment at the end of the recording, and counts each fragment once', () => {
    splice([0, 1])
    expect(splice([1])).toEqual([])
    expect(splicer.finish().map(describeFragment)).toEqual([{ captured: 1, start: 1, end: 2 }])
    expect(splicer.finish()).toEqual([])
    expect(splicer.count).toBe(2)
  })
})
