import type { ElementDefinition } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { expect, test } from 'vitest'
import { createCrowd } from '../test/fixtures/crowd.ts'
import tracking from './object-tracking/element.ts'
import trackingOH from './object-tracking-oh/element.ts'

const seconds = 60

/** Identity switches (CLEAR MOT, Bernardin and Stiefelhagen 2008) and numbers given, over crowds that hide each other. */
async function measure(definition: ElementDefinition, { people, fps }: { people: number; fps: number }) {
  let [switches, numbers, shown, detected] = [0, 0, 0, 0]
  for (const seed of [1, 2, 3, 4, 5]) {
    const crowd = createCrowd(seed, people, seconds)
    const tracker = await openElement(definition)
    const stream = createStream(fps)
    const numberOf = new Map<unknown, number>()
    const given = new Set<number>()
    for (let now = 0; now < seconds; now += 1 / fps) {
      const detections = crowd.at(now)
      const { objects = [] } = await tracker.process(stream.next(detections))
      for (const { track = 0, attributes } of objects) {
        const before = numberOf.get(attributes?.who)
        if (before !== undefined && before !== track) switches += 1
        numberOf.set(attributes?.who, track)
        given.add(track)
      }
      detected += detections.length
      shown += objects.length
    }
    numbers += given.size
  }
  return { switches, numbers, shown: shown / detected }
}

test.each([
  { people: 24, fps: 12.5 },
  { people: 12, fps: 12.5 },
  { people: 24, fps: 5 },
])(
  'among $people people who hide each other, at $fps frames a second, occlusion handling mixes up half as many',
  async crowd => {
    const plain = await measure(tracking['object-tracking'], crowd)
    const handled = await measure(trackingOH['object-tracking-OH'], crowd)
    expect(handled.switches).toBeLessThan(plain.switches * 0.55)
    expect(handled.numbers).toBeLessThan(plain.numbers * 0.75)
    expect(handled.shown).toBeGreaterThan(0.93)
  },
  60_000,
)
