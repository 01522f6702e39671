import { type BBox, getCenter, type Point } from '@eyrie/element'
import { iou, type Similarity } from '@eyrie/element/tracking'
import type { OcTrack } from './oc-track.ts'

// The functions of this file measure how similar a track (a followed object) and a detection in the
// current frame are: 0 if they cannot be the same object, and more the better they agree. The
// overlap of boxes is measured as IoU, intersection over union.

/**
 * Factor for the similarity of a track that is completely occluded. The factor of a visible track
 * is 1.
 */
const MIN_OCCLUSION_FACTOR = 0.3
/** Maximum distance of a recovered object from its predicted center, in standard deviations. */
const MAX_DEVIATIONS = 8
/**
 * Minimum ratio of the smaller to the greater height. The height of an object hardly
 * changes while it is lost.
 */
const MIN_HEIGHT_RATIO = 0.8
/** Weight of the motion direction relative to the distance. */
const DIRECTION_WEIGHT = 0.4
/**
 * Lengths in box sizes below which the direction of a step has less weight, because boxes jitter.
 */
const MIN_PAST_STEP = 0.3
const MIN_CURRENT_STEP = 0.1
/** Avoids a division by zero. */
const MIN_BOX_SIZE = 1e-6

/**
 * IoU of the detection with the predicted box or with its visible part, the greater of the
 * two; 0 below `minIou`.
 *
 * Multiplied by the overlap of heights, which separates neighbours at different distances
 * (height-modulated IoU of Hybrid-SORT, Yang et al. 2024), and reduced for occluded tracks, so that
 * a detection goes to the object in front.
 */
export const visibleIou =
  (minIou: number): Similarity<OcTrack> =>
  (track, predictedBox, { class: label, bbox }) => {
    if (track.class !== label) return 0
    const { share, bbox: visiblePart } = track.visibility
    const best = Math.max(
      heightModulatedIou(predictedBox, bbox, minIou),
      heightModulatedIou(visiblePart, bbox, minIou),
    )
    return (MIN_OCCLUSION_FACTOR + (1 - MIN_OCCLUSION_FACTOR) * share) * best
  }

/**
 * IoU with the last observed box; 0 below `minIou`. Recovers objects that stopped while they were
 * lost (OC-SORT's OCR).
 */
export const lastObservationIou =
  (minIou: number): Similarity<OcTrack> =>
  (track, _, { class: label, bbox }) => {
    const overlap = track.class === label ? iou(track.lastObservation, bbox) : 0
    return overlap < minIou ? 0 : overlap
  }

/**
 * Proximity to the predicted center of a lost track, relative to the prediction's uncertainty,
 * which grows while the track is lost, plus the consistency of the motion direction (OC-SORT's
 * observation-centric momentum).
 */
export const motionSimilarity: Similarity<OcTrack> = (
  track,
  predictedBox,
  { class: label, bbox },
) => {
  if (track.class !== label || toRatio(predictedBox.h, bbox.h) < MIN_HEIGHT_RATIO) return 0

  const predicted = getCenter(predictedBox)
  const detected = getCenter(bbox)
  const { x, y } = track.centerDeviation
  const deviations = Math.hypot((detected.x - predicted.x) / x, (detected.y - predicted.y) / y)
  if (deviations > MAX_DEVIATIONS) return 0

  const pastStep = measureStep(track.earlierObservation, track.lastObservation)
  const currentStep = measureStep(track.lastObservation, bbox)
  const consistency = compareDirections(pastStep, currentStep)
  const proximity = 1 - deviations / MAX_DEVIATIONS
  // A similarity of 0 would exclude the match.
  return Math.max(Number.EPSILON, proximity + DIRECTION_WEIGHT * consistency)
}

/**
 * Compares the directions of two steps, in box sizes: 0.5 if they are the same, 0 at a right angle,
 * −0.5 if opposite (the angle term of OC-SORT, Cao et al. 2023). Scaled down for short steps; 0 if
 * one of them has no length.
 */
function compareDirections(past: Point, current: Point): number {
  const pastLength = Math.hypot(past.x, past.y)
  const currentLength = Math.hypot(current.x, current.y)
  if (pastLength === 0 || currentLength === 0) return 0

  const cosine = (past.x * current.x + past.y * current.y) / (pastLength * currentLength)
  // Rounding may produce a cosine slightly outside of its range.
  const angle = Math.acos(Math.min(1, Math.max(-1, cosine)))
  const pastReliability = Math.min(1, pastLength / MIN_PAST_STEP)
  const currentReliability = Math.min(1, currentLength / MIN_CURRENT_STEP)
  return pastReliability * currentReliability * (0.5 - angle / Math.PI)
}

/** IoU multiplied by the square of the overlap of the heights; 0 if the IoU is below `minIou`. */
function heightModulatedIou(a: BBox, b: BBox, minIou: number): number {
  const overlap = iou(a, b)
  if (overlap < minIou) return 0
  const intersection = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  const union = Math.max(a.y + a.h, b.y + b.h) - Math.min(a.y, b.y)
  return overlap * (intersection / union) ** 2
}

/**
 * Returns the vector between the centers, in sizes of the first box: so the aspect ratio of the
 * picture does not matter.
 */
function measureStep(from: BBox, to: BBox): Point {
  const start = getCenter(from)
  const end = getCenter(to)
  return {
    x: (end.x - start.x) / Math.max(from.w, MIN_BOX_SIZE),
    y: (end.y - start.y) / Math.max(from.h, MIN_BOX_SIZE),
  }
}

/** Returns the ratio of the smaller to the greater number. */
function toRatio(a: number, b: number): number {
  return Math.min(a, b) / Math.max(a, b, Number.EPSILON)
}
