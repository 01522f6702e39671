import type { DetectedObject } from '@eyrie/contract/object'
import { iou } from '@eyrie/element/tracking/association'

/** Boxes that overlap less show different objects; the threshold of the PASCAL VOC challenge. */
const MIN_IOU = 0.5

/** Limits the cost, which is quadratic: only the objects with the highest scores are compared. */
const MAX_OBJECTS = 200

/** How far two models agree on the objects in a frame. */
export interface BoxComparison {
  /** The intersection over union of each pair of the same class. */
  overlaps: number[]
  /** Number of pairs of different classes. */
  otherClass: number
  /** Number of objects that only the active model has found. */
  activeOnly: number
  candidateOnly: number
}

interface Pair {
  active: DetectedObject
  candidate: DetectedObject
  overlap: number
}

/**
 * Pairs the objects that two models have found in the same place. Pairs of the same class come
 * first, then those with the largest overlap. Both lists must be ordered by descending score.
 */
export function compareBoxes(
  activeObjects: readonly DetectedObject[],
  candidateObjects: readonly DetectedObject[],
): BoxComparison {
  const active = activeObjects.slice(0, MAX_OBJECTS)
  const candidate = candidateObjects.slice(0, MAX_OBJECTS)
  const paired = new Set<DetectedObject>()
  const overlaps: number[] = []
  let otherClass = 0
  for (const pair of listPairs(active, candidate)) {
    if (paired.has(pair.active) || paired.has(pair.candidate)) continue
    paired.add(pair.active).add(pair.candidate)
    if (isSameClass(pair)) overlaps.push(pair.overlap)
    else otherClass += 1
  }
  const pairCount = overlaps.length + otherClass
  return {
    overlaps,
    otherClass,
    activeOnly: active.length - pairCount,
    candidateOnly: candidate.length - pairCount,
  }
}

/** Lists all possible pairs, in the order in which they are preferred. */
function listPairs(
  activeObjects: readonly DetectedObject[],
  candidateObjects: readonly DetectedObject[],
): Pair[] {
  const pairs: Pair[] = []
  for (const active of activeObjects) {
    for (const candidate of candidateObjects) {
      const overlap = iou(active.bbox, candidate.bbox)
      if (overlap >= MIN_IOU) pairs.push({ active, candidate, overlap })
    }
  }
  return pairs.sort(
    (a, b) => Number(isSameClass(b)) - Number(isSameClass(a)) || b.overlap - a.overlap,
  )
}

const isSameClass = ({ active, candidate }: Pair) => active.class === candidate.class
