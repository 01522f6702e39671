import { expect, test } from 'vitest'
import { ClassVote } from './class-vote.ts'

const detected = (label: string, score: number) => ({
  class: label,
  score,
  bbox: { x: 0, y: 0, w: 0.1, h: 0.1 },
})

test('the class with the greatest total score wins, however often another was seen', () => {
  const vote = new ClassVote()
  expect(vote.take(detected('car', 0.9))).toBe('car')
  expect(vote.take(detected('truck', 0.4))).toBe('car')
  expect(vote.take(detected('truck', 0.4))).toBe('car')
  expect(vote.take(detected('truck', 0.4))).toBe('truck')
})
