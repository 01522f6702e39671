import type { DetectedObject } from '@eyrie/contract/object'
import { expect, test } from 'vitest'
import { anyClass, type Followed, firstStep, pair, sameClass } from './pairing.ts'

const box = (x: number) => ({ x, y: 0, w: 1, h: 1 })
const person = (x: number, label = 'person'): DetectedObject => ({ class: label, score: 0.9, bbox: box(x) })

class Spot implements Followed {
  readonly class = 'person'
  readonly expected
  matched: DetectedObject | undefined
  constructor(x: number) {
    this.expected = box(x)
  }
  match(detection: DetectedObject): void {
    this.matched = detection
  }
}

test('tracks go on with the detections that suit all of them best, and what is left of both is told', () => {
  const [near, far, alone] = [new Spot(0), new Spot(0.5), new Spot(9)]
  const [first, second, stray] = [person(0.4), person(0.9), person(20)]
  const paired = pair([near, far, alone], [first, second, stray], sameClass(0.1))
  expect([near.matched, far.matched, alone.matched]).toEqual([first, second, undefined])
  expect(paired).toEqual({ matched: [near, far], tracks: [alone], detections: [stray] })
})

test('classes are kept apart where they are asked for', () => {
  const spot = new Spot(0)
  const car = person(0, 'car')
  expect(pair([spot], [car], sameClass(0.1)).matched).toEqual([])
  expect(pair([spot], [car], anyClass(0.9)).matched).toEqual([spot])
})

test('a first step may be wider than the box', () => {
  expect(pair([new Spot(0)], [person(1)], sameClass(0.1)).matched).toEqual([])
  expect(pair([new Spot(0)], [person(1)], firstStep(0.1)).matched).toHaveLength(1)
})
