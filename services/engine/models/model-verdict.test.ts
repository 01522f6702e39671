import type { DetectedObject } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { compareBoxes } from './compare-boxes.ts'
import { ModelTally } from './model-tally.ts'
import { type ComparedModels, computeLoad, judgeModel } from './model-verdict.ts'

const WORKERS = 2
const labels = ['car', 'truck']
const models: ComparedModels = {
  active: { name: 'door', labels },
  candidate: { name: 'door-2', labels },
}

const box = (name: string, x: number, w = 0.2): DetectedObject => ({
  class: name,
  score: 0.9,
  bbox: { x, y: 0, w, h: 0.2 },
})

interface Recorded {
  frames?: number
  activeMs?: number
  candidateMs?: number
}

/** Records frames, 40 ms apart, with what both models find in each and how long they take. */
function record(
  active: DetectedObject[],
  candidate = active,
  { frames = 100, activeMs = 10, candidateMs = 10 }: Recorded = {},
): ModelTally {
  const tally = new ModelTally(3)
  for (let n = 1; n <= frames; n++) {
    tally.recordOffer({ n, time: n * 40_000 })
    tally.recordFrame(
      { objects: active, cpuMs: activeMs },
      { objects: candidate, cpuMs: candidateMs },
    )
  }
  return tally
}

function judge(tally: ModelTally, compared = models) {
  const channels = [tally.summarize()]
  return judgeModel(compared, { channels, load: computeLoad(WORKERS, channels) })
}

describe('comparison of boxes', () => {
  it('pairs objects of the same class with the largest overlap first', () => {
    const result = compareBoxes(
      [box('car', 0), box('car', 0.5)],
      [box('car', 0.02), box('car', 0.01), box('truck', 0.5)],
    )
    expect(result).toEqual({
      overlaps: [expect.closeTo(0.19 / 0.21)],
      otherClassCount: 1,
      activeOnlyCount: 0,
      candidateOnlyCount: 1,
    })
  })

  it('pairs no boxes that overlap by less than half', () => {
    expect(compareBoxes([box('car', 0)], [box('car', 0.08)])).toEqual({
      overlaps: [],
      otherClassCount: 0,
      activeOnlyCount: 1,
      candidateOnlyCount: 1,
    })
  })
})

describe('tally of a model in shadow', () => {
  it('has objects per frame, percentiles of the cost, and the time between frames', () => {
    const tally = record([box('car', 0), box('car', 0.5)])
    tally.recordOffer({ n: 105, time: 105 * 40_000 })
    tally.recordFrame({ objects: [], cpuMs: 50 }, { objects: [box('truck', 0)], cpuMs: 10 })
    expect(tally.summarize()).toMatchObject({
      channel: 3,
      frames: 101,
      budget_ms: 40,
      active: {
        cpu_ms: { p50: 10, p99: 10, mean: 10.396 },
        over_budget: 0.01,
        objects: { car: 1.98 },
      },
      candidate: { over_budget: 0, objects: { car: 1.98, truck: 0.01 } },
      agreement: { both: 200, other_class: 0, active_only: 0, candidate_only: 1, mean_iou: 1 },
    })
  })

  it('measures the time between frames anew after the numbers have restarted', () => {
    const tally = record([])
    for (const n of [1, 2, 3]) tally.recordOffer({ n, time: 5_000_000 + n * 100_000 })
    expect(tally.summarize().budget_ms).toBe(100)
  })
})

describe('verdict on a model in shadow', () => {
  it('is unknown without frames', () => {
    expect(judge(new ModelTally(3))).toEqual({ verdict: 'unknown', findings: [] })
  })

  it('is the same if objects, costs and failures are', () => {
    expect(judge(record([box('car', 0)], [box('car', 0.005)]))).toEqual({
      verdict: 'same',
      findings: [],
    })
  })

  it('is worse if the model fails more often, even before its first frame', () => {
    const tally = new ModelTally(3)
    tally.candidate.recordFailure('out of memory')
    expect(judge(tally)).toEqual({
      verdict: 'worse',
      findings: ['channel 3: door-2 has failed once (out of memory), door never'],
    })
  })

  it('is worse if the model needs more than the time between frames, or more workers than there are', () => {
    expect(judge(record([], [], { candidateMs: 100 }))).toEqual({
      verdict: 'worse',
      findings: [
        'channel 3: door-2 takes longer than the 40 ms between two frames in 100 % of the frames (p50 100 ms, p99 100 ms)',
        'door-2 would keep 2.5 inference workers busy, but there are 2; door keeps 0.25 busy',
        'channel 3: door-2 needs 100 ms of CPU time a frame, door 10 ms',
      ],
    })
  })

  it('does not depend on the costs of the first frames, which take longer', () => {
    expect(judge(record([], [], { frames: 19, candidateMs: 100 }))).toEqual({
      verdict: 'same',
      findings: [],
    })
    expect(judge(record([], [], { frames: 20, candidateMs: 100 }))).toMatchObject({
      verdict: 'worse',
    })
  })

  it('names other objects, boxes and classes', () => {
    const tally = record([box('car', 0), box('car', 0.5)], [box('car', 0.045), box('truck', 0.5)])
    const candidate = { name: 'door-2', labels: ['car', 'truck', 'bus'] }
    expect(judge(tally, { ...models, candidate })).toEqual({
      verdict: 'different',
      findings: [
        'door-2 has the additional classes bus',
        'channel 3: both find 50 % of the objects; 0 % are found only by door, 0 % only by door-2, and 50 % as another class',
        'channel 3: the boxes of objects that both find have an intersection over union of 0.633',
        'channel 3: 1 car per frame instead of 2',
        'channel 3: 1 truck per frame instead of 0',
      ],
    })
  })

  it('notes skipped frames, and why the model does not run', () => {
    const tally = record([])
    for (let n = 0; n < 50; n++) tally.recordSkipped()
    tally.problem = 'it has failed 10 times'
    expect(judge(tally)).toEqual({
      verdict: 'same',
      findings: [
        'channel 3: door-2 does not run here: it has failed 10 times',
        'channel 3: door-2 has skipped 50 of 150 frames',
      ],
    })
  })
})
