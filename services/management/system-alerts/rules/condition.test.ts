import { describe, expect, it } from 'vitest'
import { advance, type Condition } from './condition.ts'
import type { Presence } from './observation.ts'

const HOLD_OFF = { openAfterMs: 60_000, closeAfterMs: 60_000, flapCount: 5, flapWindowMs: 600_000 }
const STEP_MS = 5_000

const PRESENCES: Record<string, Presence> = { x: 'present', '.': 'absent', '?': 'unknown' }

/**
 * Observes every five seconds. `x`: present, `.`: absent, `?`: unknown. Returns the changes with
 * their time in seconds.
 */
function observe(pattern: string) {
  let condition: Condition | undefined
  const changes: [number, string][] = []
  for (const [index, mark] of [...pattern].entries()) {
    const nowMs = index * STEP_MS
    const presence = PRESENCES[mark]!
    const transition = advance(condition, { presence, nowMs, holdOff: HOLD_OFF })
    condition = transition.condition
    if (transition.change) changes.push([nowMs / 1000, transition.change])
  }
  return { changes, condition }
}

describe('condition of a failure', () => {
  it.each([
    ['opens after it has lasted for the hold-off time', 'x'.repeat(13), [[60, 'opened']]],
    ['does not open while it is shorter', `${'x'.repeat(12)}${'.'.repeat(20)}`, []],
    [
      'closes after it was absent for the hold-off time',
      `${'x'.repeat(13)}${'.'.repeat(13)}`,
      [
        [60, 'opened'],
        [125, 'closed'],
      ],
    ],
    [
      'remains open across a short absence',
      `${'x'.repeat(13)}${'.'.repeat(11)}${'x'.repeat(3)}`,
      [[60, 'opened']],
    ],
    [
      'opens at once when it begins for the fifth time within ten minutes',
      'x...x...x...x...x',
      [[80, 'opened']],
    ],
    [
      'remains open while it flaps, and closes ten minutes after the first of the last five onsets',
      `x...x...x...x...x${'.'.repeat(140)}`,
      [
        [80, 'opened'],
        [605, 'closed'],
      ],
    ],
    [
      'does not change while it is unknown',
      `${'x'.repeat(13)}${'?'.repeat(400)}`,
      [[60, 'opened']],
    ],
    [
      'does not close because it was unknown',
      `${'x'.repeat(13)}.${'?'.repeat(400)}x`,
      [[60, 'opened']],
    ],
  ])('%s', (_, pattern, expected) => {
    expect(observe(pattern).changes).toEqual(expected)
  })

  it('counts how often it was interrupted', () => {
    expect(observe(`${'x'.repeat(13)}..x..x`).condition).toMatchObject({
      interruptions: 2,
      isOpen: true,
    })
  })

  it('is forgotten after the time in which it could have flapped', () => {
    expect(observe(`x${'.'.repeat(121)}`).condition).toBeUndefined()
  })
})
