import type { ElementDefinition } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import { createCrowd } from '../test/fixtures/engine/simulated-crowd.ts'
import tracking from './object-tracking/element.ts'
import trackingOH from './object-tracking-oh/element.ts'

const seconds = 60

/**
 * Counts identity switches (CLEAR MOT, Bernardin and Stiefelhagen 2008) and assigned ids over
 * five simulated crowds.
 */
async function measure(
  definition: ElementDefinition,
  { people, fps }: { people: number; fps: number },
) {
  let [switches, ids, shown, detected] = [0, 0, 0, 0]
  for (const seed of [1, 2, 3, 4, 5]) {
    const crowd = createCrowd(seed, people, seconds)
    const tracker = await openElement(definition)
    const stream = createStream(fps)
    const idByPerson = new Map<unknown, number>()
    const assignedIds = new Set<number>()
    for (let now = 0; now < seconds; now += 1 / fps) {
      const detections = crowd.detectAt(now)
      const { objects = [] } = await tracker.process(stream.next(detections))
      for (const { track = 0, attributes } of objects) {
        const previous = idByPerson.get(attributes?.who)
        if (previous !== undefined && previous !== track) switches += 1
        idByPerson.set(attributes?.who, track)
        assignedIds.add(track)
      }
      detected += detections.length
      shown += objects.length
    }
    ids += assignedIds.size
  }
  return { switches, ids, shown: shown / detected }
}

describe('identity switches in crowds', () => {
  it.each([
    { people: 24, fps: 12.5 },
    { people: 12, fps: 12.5 },
    { people: 24, fps: 5 },
  ])(
    'are halved by occlusion handling among $people people at $fps fps',
    async crowd => {
      const plain = await measure(tracking['object-tracking'], crowd)
      const handled = await measure(trackingOH['object-tracking-OH'], crowd)
      expect(handled.switches).toBeLessThan(plain.switches * 0.55)
      expect(handled.ids).toBeLessThan(plain.ids * 0.75)
      expect(handled.shown).toBeGreaterThan(0.93)
    },
    60_000,
  )
})
