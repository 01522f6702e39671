import { describe, expect, it } from 'vitest'
import { createRefusedTopics } from './refused-topics.ts'

describe('topics that a broker refuses', () => {
  it('are found one at a time, after three lost connections in a row', () => {
    const refused = createRefusedTopics()
    refused.recordLoss(['count', 'picture'])
    expect(refused.hasSuspects()).toBe(false)
    refused.recordLoss(['count', 'picture'])
    expect(refused.hasSuspects()).toBe(true)
    refused.recordConfirmation('count')
    expect(refused.recordLoss(['picture'])).toEqual(['picture'])
    expect(refused.hasSuspects()).toBe(false)
    expect(['count', 'picture'].filter(refused.isRefused)).toEqual(['picture'])
  })

  it('do not include a topic whose messages were confirmed between two lost connections', () => {
    const refused = createRefusedTopics()
    for (let i = 0; i < 5; i += 1) {
      expect(refused.recordLoss(['count', 'count'])).toEqual([])
      refused.recordConfirmation('count')
    }
    expect(refused.isRefused('count')).toBe(false)
  })

  it('are tried once again after ten minutes', () => {
    let nowMs = 0
    const refused = createRefusedTopics(() => nowMs)
    for (let i = 0; i < 3; i += 1) refused.recordLoss(['picture'])
    expect(refused.isRefused('picture')).toBe(true)
    nowMs += 600_000
    expect(refused.isRefused('picture')).toBe(false)
    expect(refused.recordLoss(['picture'])).toEqual(['picture'])
    expect(refused.isRefused('picture')).toBe(true)
  })
})
