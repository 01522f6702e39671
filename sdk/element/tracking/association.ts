import type { BBox, DetectedObject } from '@eyrie/contract/object'
import { type Candidate, solveAssignment } from './assignment.ts'

/**
 * Associates detections with tracks. A track is an object that a tracker follows from frame to
 * frame. In each new frame, the tracker must find out which detection shows which of its tracks.
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
 * `predictedBox` is that of the track. It is a separate parameter because some tracks compute it at
 * each access, and `associate` compares each track with many detections.
 */
export type Similarity<Track = AssociableTrack> = (
  track: Track,
  predictedBox: BBox,
  detection: DetectedObject,
) => number

/**
 * Returns a similarity: the IoU (intersection over union) of boxes of the same class; 0 if it is
 * less than `minIou`.
 */
export const sameClassIou =
  (minIou: number): Similarity =>
  (track, predictedBox, detection) =>
    track.class === detection.class ? zeroBelow(minIou, iou(predictedBox, detection.bbox)) : 0

/**
 * Returns a similarity for objects that the model classifies inconsistently: the IoU of boxes of
 * any class; 0 if it is less than `minIou`.
 */
export const anyClassIou =
  (minIou: number): Similarity =>
  (_track, predictedBox, detection) =>
    zeroBelow(minIou, iou(predictedBox, detection.bbox))

/** Margin of the boxes of `bufferedIou`, as a share of the box size. */
const BUFFER = 0.5

/**
 * Returns a similarity for the second detection of a track, when the velocity of the track is still
 * unknown: the buffered IoU (C-BIoU, Yang et al. 2023). It is the IoU of boxes of the same class,
 * each expanded by half of its size on every side; 0 if it is less than `minIou`.
 */
export const bufferedIou =
  (minIou: number): Similarity =>
  (track, predictedBox, detection) => {
    if (track.class !== detection.class) return 0
    const buffered = iou(expandBox(predictedBox, BUFFER), expandBox(detection.bbox, BUFFER))
    return zeroBelow(minIou, buffered)
  }

/** The result of an association. All lists are in the order of the tracks or detections. */
interface Association<Track, Detection> {
  /** The tracks that a detection continues. */
  matchedTracks: Track[]
  unmatchedTracks: Track[]
  unmatchedDetections: Detection[]
}

/**
 * Associates tracks with detections so that the total similarity is maximal. Calls `update` of each
 * matched track with its detection.
 */
export function associate<
  Track extends AssociableTrack<Detection>,
  Detection extends DetectedObject,
>(
  tracks: readonly Track[],
  detections: readonly Detection[],
  similarity: Similarity<Track>,
): Association<Track, Detection> {
  const candidates: Candidate[] = []
  // Loops over indices, because `entries()` would allocate an array for each pair of a track and a
  // detection.
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

function zeroBelow(min: number, value: number): number {
  return value >= min ? value : 0
}
