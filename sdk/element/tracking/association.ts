import type { BBox, DetectedObject } from '@eyrie/contract/object'
import { type Candidate, solveAssignment } from './assignment.ts'

/** A track that detections can be associated with. */
export interface AssociableTrack {
  readonly class: string
  /** The box predicted for the current frame. */
  readonly predictedBox: BBox
  /** Continues the track with an associated detection. */
  update(detection: DetectedObject): void
}

/**
 * Returns how well a detection continues a track, or 0 if it cannot. `predictedBox` is the track's, read once per track.
 */
export type Similarity<Track extends AssociableTrack = AssociableTrack> = (
  track: Track,
  predictedBox: BBox,
  detection: DetectedObject,
) => number

/** IoU of boxes of the same class, gated at `minIou`. */
export const sameClassIou =
  (minIou: number): Similarity =>
  (track, predictedBox, detection) =>
    track.class === detection.class ? gate(iou(predictedBox, detection.bbox), minIou) : 0

/** IoU regardless of class, gated at `minIou`: for objects that the model classifies inconsistently. */
export const anyClassIou =
  (minIou: number): Similarity =>
  (_, predictedBox, { bbox }) =>
    gate(iou(predictedBox, bbox), minIou)

/**
 * IoU of boxes of the same class, both expanded by half their size on every side, gated at `minIou` (the buffered IoU of
 * C-BIoU, Yang et al. 2023). For the second detection of a track: the velocity is unknown after the first.
 */
export const bufferedIou =
  (minIou: number): Similarity =>
  (track, predictedBox, { class: label, bbox }) =>
    track.class === label ? gate(iou(expandBox(predictedBox, 0.5), expandBox(bbox, 0.5)), minIou) : 0

/**
 * Associates tracks with detections so that the total similarity is maximal, and calls `update` on each matched track.
 *
 * @returns The matched tracks in the order of `tracks`, and the unmatched tracks and detections in their original order.
 */
export function associate<Track extends AssociableTrack>(
  tracks: readonly Track[],
  detections: readonly DetectedObject[],
  similarity: Similarity<Track>,
) {
  const candidates: Candidate[] = []
  // Index loops: iterating with entries() would allocate an array for every cell of the similarity matrix.
  for (let row = 0; row < tracks.length; row += 1) {
    const track = tracks[row]!
    const { predictedBox } = track
    for (let column = 0; column < detections.length; column += 1) {
      const value = similarity(track, predictedBox, detections[column]!)
      if (value > 0) candidates.push({ row, column, similarity: value })
    }
  }
  const matchedTracks = new Set<Track>()
  const matchedDetections = new Set<DetectedObject>()
  for (const { row, column } of solveAssignment(candidates)) {
    const track = tracks[row]!
    const detection = detections[column]!
    track.update(detection)
    matchedTracks.add(track)
    matchedDetections.add(detection)
  }
  return {
    matchedTracks: [...matchedTracks],
    unmatchedTracks: tracks.filter(track => !matchedTracks.has(track)),
    unmatchedDetections: detections.filter(detection => !matchedDetections.has(detection)),
  }
}

/** Intersection over union of two boxes, 0..1. */
export function iou(a: BBox, b: BBox): number {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  if (w <= 0 || h <= 0) return 0
  const intersection = w * h
  return intersection / (a.w * a.h + b.w * b.h - intersection)
}

/** Adds a margin on every side of a box, as a share of the box's size. */
export function expandBox({ x, y, w, h }: BBox, margin: number): BBox {
  return { x: x - w * margin, y: y - h * margin, w: w * (1 + 2 * margin), h: h * (1 + 2 * margin) }
}

function gate(value: number, min: number): number {
  return value >= min ? value : 0
}
