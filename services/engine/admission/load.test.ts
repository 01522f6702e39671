import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ElementDemand } from '../catalog/element-demand.ts'
import type { SourceCost } from '../media/media-client.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import { createAdmission, findShortage } from './admission.ts'
import type { KnownCosts } from './costs.ts'
import { estimateLoad } from './load.ts'

const known: ElementDemand = {
  name: 'infer',
  version: '1.0.0',
  inference: { model: 'm', sha256: 'abc', device: 'cpu', view: { width: 416 } },
}

const sourceOf = (id: number, more: Partial<SourcePlan> = {}): SourcePlan => ({
  id,
  type: 'video',
  address: { url: `rtsp://me:secret@camera/${id}?key=secret` },
  decoder: 'gst_h264',
  rate: undefined,
  pacing: 'realtime',
  ended: false,
  ...more,
})

const planOf = (sources: SourcePlan[], channels: [source: number, pipeline: number][]): Plan => ({
  sources,
  pipelines: [1, 2, 3].map(id => ({ id, elements: [{ name: 'infer' }], priority: 5, sinks: [] })),
  sinks: [],
  channels: channels.map(([source, pipeline], i) => ({ id: i + 1, source, pipeline })),
})

const costsOf = (cost: {
  source?: SourceCost
  element?: number
  inference?: number
}): KnownCosts => ({
  sourceCost: () => cost.source,
  elementCost: () => cost.element,
  inferenceCost: () => cost.inference,
})

const measured = costsOf({
  source: { fps: 20, decodeMs: 5, scaleMs: 1 },
  element: 2,
  inference: 10,
})
const load = (plan: Plan, costs = measured) => estimateLoad(plan, costs, () => [known])

describe('load', () => {
  it('is CPU time per frame times frames per second, over sources and channels', () => {
    expect(load(planOf([sourceOf(1)], [[1, 1]]))).toEqual({
      cores: expect.closeTo(0.36),
      decoding: expect.closeTo(0.12),
      inference: expect.closeTo(0.2),
      elements: expect.closeTo(0.04),
      unknown: [],
    })
  })

  it('decreases with the rate, except for decoding, which precedes the rate limit', () => {
    const { decoding, inference } = load(planOf([sourceOf(1, { rate: 5 })], [[1, 1]]))
    expect([decoding, inference]).toEqual([expect.closeTo(0.105), expect.closeTo(0.05)])
    expect(load(planOf([sourceOf(1, { rate: 100 })], [[1, 1]]))).toEqual(
      load(planOf([sourceOf(1)], [[1, 1]])),
    )
  })

  it('of a source includes its channels only, and is unknown while a part has not been measured', () => {
    const plan = planOf(
      [sourceOf(1), sourceOf(2)],
      [
        [1, 1],
        [2, 1],
        [2, 2],
      ],
    )
    const estimate = (costs: KnownCosts, source: number) =>
      createAdmission({ cores: 4, costs, findDemands: () => [known] }).estimateSourceLoad(
        plan,
        source,
      )
    expect([estimate(measured, 1), estimate(measured, 2), estimate(measured, 3)]).toEqual([
      expect.closeTo(0.36),
      expect.closeTo(0.6),
      0,
    ])
    expect(estimate(costsOf({ element: 2, inference: 10 }), 1)).toBeUndefined()
  })

  it.each([
    ['a source without a channel', planOf([sourceOf(1)], [])],
    ['a file that has ended', planOf([sourceOf(1, { type: 'file', ended: true })], [[1, 1]])],
    [
      'a back-test, which has no rate',
      planOf([sourceOf(1, { type: 'file', pacing: 'all' })], [[1, 1]]),
    ],
  ])('is nothing for %s', (_, plan) => {
    expect(load(plan)).toMatchObject({ cores: 0, unknown: [] })
  })

  it('counts unmeasured costs as 0 and lists them without secrets', () => {
    expect(
      load(planOf([sourceOf(1)], [[1, 1]]), costsOf({ element: 2, inference: 10 })),
    ).toMatchObject({
      cores: 0,
      unknown: ['source rtsp://camera/1'],
    })
    const source = { fps: 20, decodeMs: 5 }
    expect(load(planOf([sourceOf(1)], [[1, 1]]), costsOf({ source }))).toMatchObject({
      cores: expect.closeTo(0.1),
      unknown: ['element infer', 'model m'],
    })
  })
})

describe('load and admission of random plans', () => {
  const ms = fc.option(fc.double({ min: 0, max: 500, noNaN: true }), { nil: undefined })
  const costs = fc
    .record({
      source: fc.option(
        fc.record({
          fps: fc.double({ min: 0.1, max: 120, noNaN: true }),
          decodeMs: fc.double({ min: 0, max: 100, noNaN: true }),
          scaleMs: ms,
        }),
        { nil: undefined },
      ),
      element: ms,
      inference: ms,
    })
    .map(costsOf)
  const rate = fc.option(fc.double({ min: 0.1, max: 200, noNaN: true }), { nil: undefined })
  const sources = fc
    .array(rate, { minLength: 1, maxLength: 5 })
    .map(rates => rates.map((rate, i) => sourceOf(i + 1, { rate })))
  const plans = sources.chain(sources =>
    fc
      .uniqueArray(
        fc.tuple(fc.integer({ min: 1, max: sources.length }), fc.integer({ min: 1, max: 3 })),
        {
          selector: String,
        },
      )
      .map(channels => planOf(sources, channels)),
  )
  const positive = fc.double({ min: 0.1, max: 64, noNaN: true })

  it('add up to the sum of non-negative parts', () => {
    fc.assert(
      fc.property(plans, costs, (plan, costs) => {
        const { cores, decoding, inference, elements } = load(plan, costs)
        expect(cores).toBeCloseTo(decoding + inference + elements)
        expect(Math.min(decoding, inference, elements)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('need no more after removing a channel, and no less after measuring an unknown cost', () => {
    fc.assert(
      fc.property(plans, costs, (plan, costs) => {
        const less = { ...plan, channels: plan.channels.slice(1) }
        expect(load(less, costs).cores).toBeLessThanOrEqual(load(plan, costs).cores * (1 + 1e-9))
        const blind = { ...costs, inference: () => undefined }
        expect(load(plan, blind).cores).toBeLessThanOrEqual(load(plan, costs).cores * (1 + 1e-9))
      }),
    )
  })

  it('need no more at a lower rate', () => {
    fc.assert(
      fc.property(
        plans,
        costs,
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        (plan, costs, share) => {
          const slower = plan.sources.map(source => ({
            ...source,
            rate: source.rate && source.rate * share,
          }))
          const { cores } = load({ ...plan, sources: slower }, costs)
          expect(cores).toBeLessThanOrEqual(load(plan, costs).cores * (1 + 1e-9))
        },
      ),
    )
  })

  it('admit a change that does not increase the load, even above capacity', () => {
    fc.assert(
      fc.property(plans, costs, positive, (plan, costs, cores) => {
        const less = { ...plan, channels: plan.channels.slice(1) }
        expect(findShortage(load(plan, costs), load(less, costs), cores)).toBeUndefined()
        const turned = {
          ...plan,
          channels: plan.channels.toReversed(),
          sources: plan.sources.toReversed(),
        }
        expect(findShortage(load(plan, costs), load(turned, costs), cores)).toBeUndefined()
      }),
    )
  })

  it('admit a load within capacity and reject an increase above capacity', () => {
    fc.assert(
      fc.property(plans, costs, positive, (plan, costs, cores) => {
        const nothing = load({ ...plan, channels: [] }, costs)
        const after = load(plan, costs)
        const shortage = findShortage(nothing, after, cores)
        expect(shortage !== undefined).toBe(after.cores > cores)
        if (shortage) expect(shortage).toMatchObject({ needed: expect.closeTo(after.cores, 1) })
      }),
    )
  })

  it('admit every change while no cost has been measured', () => {
    fc.assert(
      fc.property(plans, positive, (plan, cores) => {
        const blind = load(plan, costsOf({}))
        expect(
          findShortage(load({ ...plan, channels: [] }, costsOf({})), blind, cores),
        ).toBeUndefined()
        expect(blind.cores).toBe(0)
      }),
    )
  })
})
