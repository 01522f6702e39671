import type { BBox, DetectedObject } from '@eyrie/contract/object'
import { type Candidate, solveAssignment } from './assignment.ts'

/** Margin of a box for the buffered IoU, as a share of the box size. */
const BUFFER = 0.5

/**
 * Tracking: an object that is followed from frame to frame is a track. In each new frame, this
 * module finds out which detection belongs to which track.
 */

/** A track that detections can be associated with. */
export interface AssociableTrack<Detection extends DetectedObject = DetectedObject> {
  readonly class: string
  /** The box predicted for the current frame. */
  readonly predictedBox: BBox
  /** Continues the track with an associated detection. */
  update(detection: Detection): void
}

/**
 * Returns how well a detection continues a track, or 0 if the detection cannot continue it.
 * `predictedBox` is the predicted box of the track, which the caller reads only once per track.
 */
export type Similarity<Track = AssociableTrack> = (
  track: Track,
  predictedBox: BBox,
  detection: DetectedObject,
) => number

/** IoU (intersection over union) of boxes of the same class; 0 if it is less than `minIou`. */
export const sameClassIou =
  (minIou: number): Similarity =>
  (track, predictedBox, detection) =>
    track.class === detection.class ? gate(iou(predictedBox, detection.bbox), minIou) : 0

/**
 * IoU regardless of class, for objects that the model classifies inconsistently; 0 if it
 * is less than `minIou`.
 */
export const anyClassIou =
  (minIou: number): Similarity =>
  (_, predictedBox, { bbox }) =>
    gate(iou(predictedBox, bbox), minIou)

/**
 * Buffered IoU (C-BIoU, Yang et al. 2023): the IoU of boxes of the same class, each expanded by
 * half of its size on every side; 0 if it is less than `minIou`. Suits the second detection of a
 * track, whose velocity is still unknown.
 */
export const bufferedIou =
  (minIou: number): Similarity =>
  (track, predictedBox, { class: label, bbox }) =>
    track.class === label
      ? gate(iou(expandBox(predictedBox, BUFFER), expandBox(bbox, BUFFER)), minIou)
      : 0

/**
 * Associates tracks with detections so that the total similarity is maximal, and calls `update` on
 * each matched track. Returns the matched tracks, unmatched tracks and unmatched detections in
 * their original order.
 */
export function associate<
  Track extends AssociableTrack<Detection>,
  Detection extends DetectedObject,
>(tracks: readonly Track[], detections: readonly Detection[], similarity: Similarity<Track>) {
  const candidates: Candidate[] = []
  // Index loops: iterating with entries() would allocate an array for every cell of
  // the similarity matrix.
  for (let row = 0; row < tracks.length; row += 1) {
    const track = tracks[row]!
    const { predictedBox } = track
    for (let column = 0; column < detections.length; column += 1) {
      const value = similarity(track, predictedBox, detections[column]!)
      if (value > 0) candidates.push({ row, column, similarity: value })
    }
  }
  const matchedTracks = new Set<Track>()
  const matchedDetections = new Set<Detection>()
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

/** Returns the intersection over union of two boxes, from 0 to 1. */
export function iou(a: BBox, b: BBox): number {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  if (w <= 0 || h <= 0) return 0
  const intersection = w * h
  return intersection / (a.w * a.h + b.w * b.h - intersection)
}

/** Expands a box on every side by a margin, which is a share of the box size. */
export function expandBox({ x, y, w, h }: BBox, margin: number): BBox {
  return { x: x - w * margin, y: y - h * margin, w: w * (1 + 2 * margin), h: h * (1 + 2 * margin) }
}

function gate(value: number, min: number): number {
  return value >= min ? value : 0
}
