import { type DetectedObject, TICKS_PER_SECOND } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { PathRecorder } from './path-recorder.ts'

const FRAME = TICKS_PER_SECOND / 25

/** An object with a box of 0.1 × 0.2 whose top left corner is at (x, y). */
const objectAt = (x: number, y: number, track?: number): DetectedObject => ({
  class: 'car',
  score: 0.9,
  bbox: { x, y, w: 0.1, h: 0.2 },
  track,
})

describe('path recorder', () => {
  it('records the positions that line-crossing uses, by track', () => {
    const recorder = new PathRecorder()
    recorder.addFrame(0, [objectAt(0.2, 0.3, 1), objectAt(0.6, 0.3, 2)])
    recorder.addFrame(FRAME, [objectAt(0.3, 0.3, 1)])
    const y = expect.closeTo(0.475)
    expect(recorder.paths).toEqual([
      [
        { x: expect.closeTo(0.25), y },
        { x: expect.closeTo(0.35), y },
      ],
      [{ x: expect.closeTo(0.65), y }],
    ])
    expect(recorder.frames).toBe(2)
  })

  it('uses the region and ratio of the element', () => {
    const recorder = new PathRecorder({ region: 'top', ratio: 0.5, history: 30 })
    recorder.addFrame(0, [objectAt(0.2, 0.3, 1)])
    expect(recorder.paths).toEqual([[{ x: expect.closeTo(0.25), y: expect.closeTo(0.35) }]])
  })

  it('stores no positions of an object that stands', () => {
    const recorder = new PathRecorder()
    for (let n = 0; n < 1000; n += 1) {
      recorder.addFrame(n * FRAME, [objectAt(0.2 + 0.002 * (n % 3), 0.3, 1)])
    }
    expect(recorder.paths).toEqual([[expect.anything()]])
  })

  it('starts a new path after a gap, after an interruption and if stream time starts anew', () => {
    const recorder = new PathRecorder()
    recorder.addFrame(0, [objectAt(0.2, 0.3, 1)])
    recorder.addFrame(6 * TICKS_PER_SECOND, [objectAt(0.3, 0.3, 1)])
    expect(recorder.paths).toHaveLength(2)
    recorder.interrupt()
    recorder.addFrame(7 * TICKS_PER_SECOND, [objectAt(0.4, 0.3, 1)])
    expect(recorder.paths).toHaveLength(3)
    recorder.addFrame(FRAME, [objectAt(0.5, 0.3, 1)])
    expect(recorder.paths).toHaveLength(4)
  })

  it('bounds the number of paths and of their positions', () => {
    const recorder = new PathRecorder()
    for (let n = 0; n < 2000; n += 1) {
      recorder.addFrame(n * FRAME, [objectAt(0.02 * (n % 40), 0.3, 1), objectAt(0.5, 0.5, n + 2)])
    }
    expect(recorder.paths.length).toBeLessThanOrEqual(500)
    expect(Math.max(...recorder.paths.map(path => path.length))).toBeLessThanOrEqual(200)
  })

  it('reports objects without a track', () => {
    const recorder = new PathRecorder()
    expect(recorder.isUntracked).toBe(false)
    recorder.addFrame(0, [objectAt(0.2, 0.3)])
    expect(recorder.isUntracked).toBe(true)
    recorder.addFrame(FRAME, [objectAt(0.2, 0.3, 1)])
    expect(recorder.isUntracked).toBe(false)
  })
})
