import type { DetectedObject } from '@eyrie/contract/object'
import { describe, expect, it } from 'vitest'
import {
  type AssociableTrack,
  anyClassIou,
  associate,
  bufferedIou,
  expandBox,
  iou,
  sameClassIou,
} from './association.ts'

const unitBox = (x: number) => ({ x, y: 0, w: 1, h: 1 })
const detection = (x: number, label = 'person'): DetectedObject => ({
  class: label,
  score: 0.9,
  bbox: unitBox(x),
})

class FakeTrack implements AssociableTrack {
  readonly class = 'person'
  readonly predictedBox
  matched: DetectedObject | undefined
  constructor(x: number) {
    this.predictedBox = unitBox(x)
  }
  update(detection: DetectedObject): void {
    this.matched = detection
  }
}

describe('associate', () => {
  it('maximizes the total similarity and returns the unmatched tracks and detections', () => {
    const [near, far, alone] = [new FakeTrack(0), new FakeTrack(0.5), new FakeTrack(9)]
    const [first, second, stray] = [detection(0.4), detection(0.9), detection(20)]
    const result = associate([near, far, alone], [first, second, stray], sameClassIou(0.1))
    expect([near.matched, far.matched, alone.matched]).toEqual([first, second, undefined])
    expect(result).toEqual({
      matchedTracks: [near, far],
      unmatchedTracks: [alone],
      unmatchedDetections: [stray],
    })
  })

  it('separates classes with sameClassIou but not with anyClassIou', () => {
    const track = new FakeTrack(0)
    const car = detection(0, 'car')
    expect(associate([track], [car], sameClassIou(0.1)).matchedTracks).toEqual([])
    expect(associate([track], [car], anyClassIou(0.9)).matchedTracks).toEqual([track])
  })

  it('matches boxes that do not overlap with bufferedIou', () => {
    expect(associate([new FakeTrack(0)], [detection(1)], sameClassIou(0.1)).matchedTracks).toEqual(
      [],
    )
    expect(
      associate([new FakeTrack(0)], [detection(1)], bufferedIou(0.1)).matchedTracks,
    ).toHaveLength(1)
  })
})

const box = (x: number, y: number, w: number, h: number) => ({ x, y, w, h })

describe('iou', () => {
  it.each([
    ['itself', box(0, 0, 2, 2), 1],
    ['a box shifted by half its width', box(1, 0, 2, 2), 1 / 3],
    ['a quarter of itself', box(0, 0, 1, 1), 1 / 4],
    ['a box over its corner', box(1, 1, 2, 2), 1 / 7],
    ['an adjacent box', box(2, 0, 2, 2), 0],
    ['a distant box', box(5, 5, 2, 2), 0],
    ['an empty box', box(1, 1, 0, 0), 0],
  ])('compares a box with %s', (_, other, expected) => {
    expect(iou(box(0, 0, 2, 2), other)).toBeCloseTo(expected, 12)
  })
})

describe('expandBox', () => {
  it('doubles a box around its center with a margin of 0.5', () => {
    expect(expandBox(box(1, 2, 2, 4), 0.5)).toEqual(box(0, 0, 4, 8))
  })
})
