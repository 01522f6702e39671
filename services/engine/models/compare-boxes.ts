import type { DetectedObject } from '@eyrie/contract/object'
import { iou } from '@eyrie/element/tracking/association'

/**
 * Boxes that overlap less show different objects; the threshold of the PASCAL VOC challenge. The
 * overlap of two boxes is their intersection over union, 0..1.
 */
const MIN_OVERLAP = 0.5

/** Limits the cost, which is quadratic: only the objects with the highest scores are compared. */
const MAX_OBJECTS = 200

/** How far two models agree on the objects in a frame. */
export interface BoxComparison {
  /** The overlap of each pair of the same class. */
  overlaps: number[]
  /** Number of pairs of different classes. */
  otherClassCount: number
  /** Number of objects that only the active model has found. */
  activeOnlyCount: number
  /** Number of objects that only the candidate has found. */
  candidateOnlyCount: number
}

/** An object that the active model has found, and one of the candidate in the same place. */
interface Pair {
  active: DetectedObject
  candidate: DetectedObject
  overlap: number
}

/**
 * Pairs the objects that two models have found in the same place. An object is in one pair at most.
 * If it overlaps several objects, one of its own class is preferred, and then the one with the
 * largest overlap. Both lists must be ordered by descending score.
 */
export function compareBoxes(
  activeObjects: readonly DetectedObject[],
  candidateObjects: readonly DetectedObject[],
): BoxComparison {
  const comparedActive = activeObjects.slice(0, MAX_OBJECTS)
  const comparedCandidate = candidateObjects.slice(0, MAX_OBJECTS)

  const paired = new Set<DetectedObject>()
  const overlaps: number[] = []
  let otherClassCount = 0
  for (const pair of listPairs(comparedActive, comparedCandidate)) {
    if (paired.has(pair.active) || paired.has(pair.candidate)) continue
    paired.add(pair.active)
    paired.add(pair.candidate)
    if (isSameClass(pair)) overlaps.push(pair.overlap)
    else otherClassCount += 1
  }

  const pairCount = overlaps.length + otherClassCount
  return {
    overlaps,
    otherClassCount,
    activeOnlyCount: comparedActive.length - pairCount,
    candidateOnlyCount: comparedCandidate.length - pairCount,
  }
}

/**
 * Lists all possible pairs in the order of preference: first the pairs of the same class, then all
 * others, both by descending overlap.
 */
function listPairs(
  activeObjects: readonly DetectedObject[],
  candidateObjects: readonly DetectedObject[],
): Pair[] {
  const pairs: Pair[] = []
  for (const active of activeObjects) {
    for (const candidate of candidateObjects) {
      const overlap = iou(active.bbox, candidate.bbox)
      if (overlap >= MIN_OVERLAP) pairs.push({ active, candidate, overlap })
    }
  }

  pairs.sort((a, b) => b.overlap - a.overlap)
  const ofSameClass = pairs.filter(isSameClass)
  const ofOtherClass = pairs.filter(pair => !isSameClass(pair))
  return [...ofSameClass, ...ofOtherClass]
}

const isSameClass = ({ active, candidate }: Pair) => active.class === candidate.class
