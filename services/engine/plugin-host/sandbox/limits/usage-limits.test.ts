import { describe, expect, it } from 'vitest'
import { UsageLimits } from './usage-limits.ts'

const MIB = 2 ** 20

/**
 * Checks a process that uses this CPU time and processes these frames in each
 * second, for some seconds.
 */
function run({
  budgetMs,
  cpuMs,
  frames,
  seconds,
}: {
  budgetMs?: number
  cpuMs: number
  frames: number
  seconds: number
}) {
  const costs: number[] = []
  const limits = new UsageLimits({ budgetMs, onCost: ms => costs.push(ms) })
  for (let second = 0; second <= seconds; second += 1) {
    const usage = { cpuMs: second * cpuMs, residentBytes: 50 * MIB }
    const problem = limits.check(usage, second * frames, second * 1000)
    if (problem) return { problem, second, costs }
  }
  return { costs }
}

describe('usage limits', () => {
  it('reports memory at once, also while the element is opened', () => {
    const limits = new UsageLimits({ budgetMs: undefined, onCost: () => {} })
    expect(limits.check({ cpuMs: 0, residentBytes: 512 * MIB }, undefined, 0)).toBeUndefined()
    expect(limits.check({ cpuMs: 0, residentBytes: 600 * MIB }, undefined, 1)).toBe(
      'it uses 600 MiB of memory, more than 512',
    )
  })

  it('reports the mean CPU time of each frame', () => {
    expect(run({ cpuMs: 60, frames: 30, seconds: 15 })).toEqual({ costs: Array(450).fill(2) })
  })

  it('ends an element that exceeds its budget, but not while its code is compiled', () => {
    expect(run({ budgetMs: 2, cpuMs: 60, frames: 30, seconds: 20 }).problem).toBeUndefined()
    expect(run({ budgetMs: 2, cpuMs: 300, frames: 30, seconds: 20 })).toMatchObject({
      problem:
        'it uses 10.0 ms of CPU time per frame, more than the budget_ms of 2 in its manifest',
      second: 10,
    })
  })

  it('ends an element that computes without a frame', () => {
    expect(run({ budgetMs: 2, cpuMs: 100, frames: 0, seconds: 20 }).problem).toBe(
      'it uses 500 ms of CPU time in 5 s without a frame',
    )
  })

  it('ends an element that uses several cores, also without a budget', () => {
    expect(run({ cpuMs: 1000, frames: 30, seconds: 20 }).problem).toBeUndefined()
    expect(run({ cpuMs: 2000, frames: 30, seconds: 20 }).problem).toBe(
      'it uses 2.0 cores, more than 1.5',
    )
  })
})
