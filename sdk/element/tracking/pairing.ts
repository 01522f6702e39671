import type { BBox, DetectedObject } from '@eyrie/contract/object'
import { assign, type Candidate } from './assignment.ts'
import { enlarged, overlap } from './overlap.ts'

/** Something that is followed. */
export interface Followed {
  readonly class: string
  /** Where it should be by now. */
  readonly expected: BBox
  /** Goes on with a detection. */
  match(detection: DetectedObject): void
}

/** How well a detection continues a track whose box should be `expected` by now; 0: not at all. */
export type Similarity<Track extends Followed = Followed> = (
  track: Track,
  expected: BBox,
  detection: DetectedObject,
) => number

/** Of the same class, and overlapping by at least so much. */
export const sameClass =
  (least: number): Similarity =>
  (track, expected, detection) =>
    track.class === detection.class ? atLeast(least, overlap(expected, detection.bbox)) : 0

/** Overlapping by at least so much, whatever the model calls it now. */
export const anyClass =
  (least: number): Similarity =>
  (_, expected, { bbox }) =>
    atLeast(least, overlap(expected, bbox))

/** For the second detection of a track, of whose velocity the first told nothing: boxes with wide margins. */
export const firstStep =
  (least: number): Similarity =>
  (track, expected, { class: label, bbox }) =>
    track.class === label ? atLeast(least, overlap(enlarged(expected, 0.5), enlarged(bbox, 0.5))) : 0

/** Continues tracks by detections in the best way of all; gives the tracks matched, and what is left of both. */
export function pair<Track extends Followed>(
  tracks: readonly Track[],
  detections: readonly DetectedObject[],
  similarity: Similarity<Track>,
) {
  const candidates: Candidate[] = []
  // By index: an iterator would make a pair of every one of them.
  for (let row = 0; row < tracks.length; row += 1) {
    const track = tracks[row]!
    const { expected } = track
    for (let column = 0; column < detections.length; column += 1) {
      const value = similarity(track, expected, detections[column]!)
      if (value > 0) candidates.push({ row, column, similarity: value })
    }
  }
  const matched = new Set<Track>()
  const used = new Set<DetectedObject>()
  for (const { row, column } of assign(candidates)) {
    const track = tracks[row]!
    const detection = detections[column]!
    track.match(detection)
    matched.add(track)
    used.add(detection)
  }
  return {
    matched: [...matched],
    tracks: tracks.filter(track => !matched.has(track)),
    detections: detections.filter(detection => !used.has(detection)),
  }
}

function atLeast(least: number, value: number): number {
  return value >= least ? value : 0
}
