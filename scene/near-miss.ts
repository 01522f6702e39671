import type { SceneTruth, TruthFrame, TruthObject } from './truth.ts'

const NEAR_M = 2
const MOVING_MPS = 2

/** Each time that a moving car's centre comes closest to a person nearer than `NEAR_M` to it. */
export function findNearMisses(frames: readonly TruthFrame[], fps: number): SceneTruth['near_misses'] {
  const closest = new Map<string, SceneTruth['near_misses'][number]>()
  const last = new Map<number, TruthObject>()
  for (const { n, objects } of frames) {
    const people = objects.filter(object => object.class === 'person')
    for (const car of objects.filter(object => object.class === 'car')) {
      const before = last.get(car.track)
      last.set(car.track, car)
      if (!before || distance(before.ground, car.ground) * fps < MOVING_MPS) continue
      for (const person of people) {
        const key = `${car.track} ${person.track}`
        const apart = distance(car.ground, person.ground)
        if (apart >= (closest.get(key)?.distance_m ?? NEAR_M)) continue
        closest.set(key, { frame: n, tracks: [car.track, person.track], distance_m: apart })
      }
    }
  }
  return [...closest.values()]
}

function distance(a: TruthObject['ground'], b: TruthObject['ground']): number {
  return Math.sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y))
}
