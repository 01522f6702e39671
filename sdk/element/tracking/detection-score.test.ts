import { describe, expect, it } from 'vitest'
import { ClassVote } from './detection-score.ts'

const detected = (label: string, score: number) => ({
  class: label,
  score,
  bbox: { x: 0, y: 0, w: 0.1, h: 0.1 },
})

describe('ClassVote', () => {
  it('returns the class with the greatest total score, not the most frequent one', () => {
    const vote = new ClassVote()
    expect(vote.add(detected('car', 0.9))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('truck')
  })
})
