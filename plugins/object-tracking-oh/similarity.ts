import { type BBox, centerOf, type Point } from '@eyrie/element'
import { overlap, type Similarity } from '@eyrie/element/tracking'
import { agreementOf } from './agreement.ts'
import type { Track } from './track.ts'

/** Of somebody behind others as much as this remains of the similarity when nothing of him should be seen. */
const unseenWeight = 0.3
/** Deviations from the expected middle within which somebody who was out of sight is found again. */
const gate = 8
/** Somebody's height hardly changes while he is out of sight. */
const leastAlike = 0.8
/** Weight of the direction beside the distance. */
const directionWeight = 0.4

/**
 * The overlap with the track's expected box, or with what of it should be seen behind others, whichever is more like
 * the detection. Modulated by the overlap of heights, which tells neighbours at different distances apart (Hybrid-SORT,
 * Yang et al. 2024), and lowered by what is hidden, so that a detection goes to who stands in front.
 */
export const asSeen =
  (least: number): Similarity<Track> =>
  (track, expected, { class: label, bbox }) => {
    if (track.class !== label) return 0
    const { share, bbox: visible } = track.sight
    const like = Math.max(heightModulated(expected, bbox, least), heightModulated(visible, bbox, least))
    return (unseenWeight + (1 - unseenWeight) * share) * like
  }

/** The overlap with where it was last, of somebody who stood still meanwhile (OC-SORT's recovery). */
export const whereItWas =
  (least: number): Similarity<Track> =>
  (track, _, { class: label, bbox }) => {
    const overlapping = track.class === label ? overlap(track.lastSeen, bbox) : 0
    return overlapping < least ? 0 : overlapping
  }

/**
 * How near a detection is to where somebody out of sight should be, in deviations of what is known of that, which grow
 * the longer he is; and whether he would have kept his direction (OC-SORT's observation-centric momentum).
 */
export const withinDoubt: Similarity<Track> = (track, expected, { class: label, bbox }) => {
  if (track.class !== label || alike(expected.h, bbox.h) < leastAlike) return 0
  const [middle, found] = [centerOf(expected), centerOf(bbox)]
  const { x, y } = track.deviation
  const away = Math.hypot((found.x - middle.x) / x, (found.y - middle.y) / y)
  if (away > gate) return 0
  const way = stepBetween(track.lastSeen, bbox)
  const agreement = agreementOf(stepBetween(track.seenBefore, track.lastSeen), way)
  return Math.max(Number.EPSILON, 1 - away / gate + directionWeight * agreement)
}

function heightModulated(a: BBox, b: BBox, least: number): number {
  const overlapping = overlap(a, b)
  if (overlapping < least) return 0
  const both = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  const either = Math.max(a.y + a.h, b.y + b.h) - Math.min(a.y, b.y)
  return overlapping * (both / either) ** 2
}

/** From middle to middle, in sizes of the first box, so that the picture's shape does not matter. */
function stepBetween(from: BBox, to: BBox): Point {
  const [a, b] = [centerOf(from), centerOf(to)]
  return { x: (b.x - a.x) / Math.max(from.w, 1e-6), y: (b.y - a.y) / Math.max(from.h, 1e-6) }
}

function alike(a: number, b: number): number {
  return Math.min(a, b) / Math.max(a, b, Number.EPSILON)
}
