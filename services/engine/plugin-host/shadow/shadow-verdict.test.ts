import type { FrameResult } from '@eyrie/element'
import { describe, expect, it } from 'vitest'
import { ShadowTally } from './shadow-tally.ts'
import { judgeShadow } from './shadow-verdict.ts'

const versions = { active: '1.0.0', version: '2.0.0' }
const person = { class: 'person', score: 0.5, bbox: { x: 0, y: 0, w: 0.1, h: 0.1 } }

function createTally(budget?: number): ShadowTally {
  const budgets = { active: budget, shadow: budget }
  return new ShadowTally({ channel: 3, element: 'probe', budgets })
}

/** Records 100 frames with the same results of both versions. */
function recordFrames(
  tally: ShadowTally,
  active: FrameResult = {},
  shadow: FrameResult = active,
): ShadowTally {
  for (let n = 0; n < 100; n++) tally.recordFrame(1, active, shadow)
  return tally
}

const judge = (tally: ShadowTally) => judgeShadow(versions, [tally.summarize()])

describe('verdict on a version in shadow', () => {
  it('is unknown without frames', () => {
    expect(judge(createTally())).toEqual({ verdict: 'unknown', findings: [] })
  })

  it('is the same if results, costs and failures are', () => {
    const tally = recordFrames(createTally(5), {
      events: [{ type: 'seen' }],
      counters: { gate: { up: 1 } },
    })
    tally.active.recordFailure('camera')
    tally.shadow.recordFailure('camera')
    for (const side of [tally.active, tally.shadow]) side.recordCost(1)
    expect(judge(tally)).toEqual({ verdict: 'same', findings: [] })
  })

  it('is worse if it fails more often, even before its first frame', () => {
    const tally = createTally()
    tally.shadow.recordFailure('no lens')
    expect(judge(tally)).toEqual({
      verdict: 'worse',
      findings: ['probe on channel 3: 2.0.0 has failed once (no lens), 1.0.0 never'],
    })
  })

  it('is worse if it exceeds its budget in more than a twentieth of the frames', () => {
    const tally = recordFrames(createTally(5))
    for (let n = 0; n < 6; n++) tally.shadow.recordCost(6)
    expect(judge(tally)).toMatchObject({
      verdict: 'worse',
      findings: ['probe on channel 3: 2.0.0 exceeds its budget of 5 ms in 6 of 100 frames'],
    })
  })

  it('does not depend on the costs of the first frames, which take longer', () => {
    const tally = createTally(5)
    for (let n = 0; n < 19; n++) {
      tally.recordFrame(1, {}, {})
      tally.active.recordCost(1)
      tally.shadow.recordCost(6)
    }
    expect(judge(tally)).toEqual({ verdict: 'same', findings: [] })
    tally.recordFrame(1, {}, {})
    expect(judge(tally)).toMatchObject({ verdict: 'worse' })
  })

  it('names other events, objects and counters, and higher costs', () => {
    const tally = createTally()
    for (let n = 0; n < 100; n++) {
      const active = { events: [{ type: 'seen' }], counters: { gate: { up: n } } }
      tally.recordFrame(1, active, { objects: [person, person], counters: { gate: { up: 2 * n } } })
      tally.active.recordCost(1)
      tally.shadow.recordCost(2)
    }
    expect(judge(tally)).toEqual({
      verdict: 'different',
      findings: [
        'probe on channel 3: 0 events seen instead of 100',
        'probe on channel 3: other events in 100 of 100 frames',
        'probe on channel 3: another number of objects in 100 of 100 frames (200 instead of 100)',
        'probe on channel 3: counter gate has changed by up 198 instead of up 99',
        'probe on channel 3: 2.0.0 needs 2 ms of CPU time a frame, 1.0.0 1 ms',
      ],
    })
  })

  it('compares counters by their changes, although most frames omit them', () => {
    const tally = createTally()
    const recordCounter = (active: number, shadow: number) =>
      tally.recordFrame(1, toResult(active), toResult(shadow))
    const toResult = (up: number) => ({ counters: { gate: { up } } })
    tally.recordFrame(1, {}, {})
    // The active version has counted for longer.
    recordCounter(1000, 1)
    recordCounter(1002, 3)
    tally.recordFrame(1, {}, {})
    expect(judge(tally)).toEqual({ verdict: 'same', findings: [] })
    recordCounter(1003, 5)
    tally.recordFrame(1, {}, {})
    expect(judge(tally).findings).toEqual([
      'probe on channel 3: counter gate has changed by up 4 instead of up 3',
    ])
  })

  it('says that the machine was too busy if the version has waited for a processor', () => {
    const tally = createTally()
    for (let n = 0; n < 50; n++) tally.recordSkipped()
    tally.recordUsage({ cpuMs: 200, waitedMs: 40_000 })
    expect(judge(tally)).toEqual({
      verdict: 'unknown',
      findings: [
        'probe on channel 3: the machine was too busy: 2.0.0 has processed 0 of 50 frames, so that its results may differ',
      ],
    })
  })

  it('notes skipped frames, and why a version does not run', () => {
    const tally = recordFrames(createTally())
    for (let n = 0; n < 50; n++) tally.recordSkipped()
    tally.problem = 'it has failed 10 times'
    expect(judge(tally)).toEqual({
      verdict: 'same',
      findings: [
        'probe on channel 3: 2.0.0 does not run in shadow: it has failed 10 times',
        'probe on channel 3: 2.0.0 has processed 100 of 150 frames, so that its results may differ',
      ],
    })
  })
})
