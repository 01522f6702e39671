import type { DetectedObject } from '@eyrie/contract/object'
import { iou } from '@eyrie/element/tracking/association'

/** Boxes that overlap less show different objects; the threshold of the PASCAL VOC challenge. */
const MIN_IOU = 0.5

/** Limits the cost, which is quadratic: only the objects with the highest scores are compared. */
const MAX_OBJECTS = 200

/** How the objects that two models have found in a frame agree. */
export interface BoxComparison {
  /** The intersection over union of each pair of the same class. */
  both: number[]
  /** Number of pairs of different classes. */
  otherClass: number
  activeOnly: number
  candidateOnly: number
}

interface Pair {
  active: DetectedObject
  candidate: DetectedObject
  overlap: number
}

/**
 * Pairs the objects of two models, those of the same class and with the largest overlap first. The objects are ordered by
 * descending score.
 */
export function compareBoxes(
  activeObjects: readonly DetectedObject[],
  candidateObjects: readonly DetectedObject[],
): BoxComparison {
  const active = activeObjects.slice(0, MAX_OBJECTS)
  const candidate = candidateObjects.slice(0, MAX_OBJECTS)
  const pairs: Pair[] = active.flatMap(one =>
    candidate.map(other => ({ active: one, candidate: other, overlap: iou(one.bbox, other.bbox) })),
  )
  const overlapping = pairs
    .filter(({ overlap }) => overlap >= MIN_IOU)
    .sort((a, b) => Number(isSameClass(b)) - Number(isSameClass(a)) || b.overlap - a.overlap)

  const paired = new Set<DetectedObject>()
  const both: number[] = []
  let otherClass = 0
  for (const pair of overlapping) {
    if (paired.has(pair.active) || paired.has(pair.candidate)) continue
    paired.add(pair.active).add(pair.candidate)
    if (isSameClass(pair)) both.push(pair.overlap)
    else otherClass += 1
  }
  const pairCount = both.length + otherClass
  return {
    both,
    otherClass,
    activeOnly: active.length - pairCount,
    candidateOnly: candidate.length - pairCount,
  }
}

const isSameClass = ({ active, candidate }: Pair) => active.class === candidate.class
