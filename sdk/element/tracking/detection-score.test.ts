import { describe, expect, it } from 'vitest'
import { ClassVote, type Confidence, rateDetections } from './detection-score.ts'

const object = (label: string, score: number) => ({
  class: label,
  score,
  bbox: { x: 0, y: 0, w: 0.1, h: 0.1 },
})
const detected = (label: string, score: number, confidence: Confidence = 'high') => ({
  ...object(label, score),
  confidence,
})

describe('rateDetections', () => {
  it('has high confidence in objects with a high score, and low confidence in all low-score objects', () => {
    const frame = {
      objects: [object('car', 0.9), object('car', 0.35)],
      lowScoreObjects: [object('airplane', 0.8), object('car', 0.2)],
    }
    expect(rateDetections(frame).map(({ score, confidence }) => [score, confidence])).toEqual([
      [0.9, 'high'],
      [0.35, 'medium'],
      [0.8, 'low'],
      [0.2, 'low'],
    ])
  })
})

describe('ClassVote', () => {
  it('returns the class with the greatest total score, not the most frequent one', () => {
    const vote = new ClassVote()
    expect(vote.add(detected('car', 0.9))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('car')
    expect(vote.add(detected('truck', 0.4))).toBe('truck')
  })

  it('ignores detections with less confidence than earlier ones', () => {
    const vote = new ClassVote()
    expect(vote.add(detected('boat', 0.8, 'low'))).toBe('boat')
    expect(vote.add(detected('truck', 0.3, 'medium'))).toBe('truck')
    expect(vote.add(detected('car', 0.5))).toBe('car')
    expect(vote.add(detected('boat', 0.8, 'low'))).toBe('car')
    expect(vote.add(detected('truck', 0.35, 'medium'))).toBe('car')
  })
})
