import { expect, test } from 'vitest'
import { createRecentGroups } from './recent-groups.ts'

const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1),
}

/** A picture a second, a keyframe every three. */
function fill(recent: ReturnType<typeof createRecentGroups>, from: number, to: number, bytes = 1) {
  for (let n = from; n < to; n++) {
    const at = n * 90_000
    const data = Buffer.alloc(bytes)
    recent.add({ pts: at, dts: at, duration: 90_000, keyframe: n % 3 === 0, data, sequence: n }, track)
  }
}

const seconds = (recent: ReturnType<typeof createRecentGroups>) =>
  recent.groups().map(({ units }) => units.map(({ sequence }) => sequence))

test('nothing but the group under way is kept, unless more is asked for', () => {
  const recent = createRecentGroups(1000)
  fill(recent, 0, 8)
  expect(seconds(recent)).toEqual([[6, 7]])
})

test('whole groups are kept that cover the seconds asked for', () => {
  const recent = createRecentGroups(1000)
  recent.retain(4)
  fill(recent, 0, 11)
  expect(seconds(recent)).toEqual([
    [6, 7, 8],
    [9, 10],
  ])
  fill(recent, 11, 12)
  expect(seconds(recent)[0]).toEqual([6, 7, 8])
})

test('the oldest go first where there is no room', () => {
  const recent = createRecentGroups(50)
  recent.retain(60)
  fill(recent, 0, 8, 10)
  expect(seconds(recent)).toEqual([
    [3, 4, 5],
    [6, 7],
  ])
})

test('a group that was interrupted is kept and ends there', () => {
  const recent = createRecentGroups(1000)
  recent.retain(60)
  fill(recent, 0, 2)
  recent.interrupt()
  expect(recent.currentUnits()).toEqual([])
  fill(recent, 2, 5)
  expect(seconds(recent)).toEqual([
    [0, 1],
    [3, 4],
  ])
})
