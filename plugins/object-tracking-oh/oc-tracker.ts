import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import { anyClassIou, associate, bufferedIou, isHighScore } from '@eyrie/element/tracking'
import { OcTrack } from './oc-track.ts'
import { computeVisibility, isCloser } from './occlusion.ts'
import { lastObservationIou, motionSimilarity, visibleIou } from './similarity.ts'
import type { TrailOptions } from './smoothed-trail.ts'

export interface OcTrackerOptions extends TrailOptions {
  /** Analysed frames after which a track without a match is deleted. */
  readonly maxAge: number
  /** High-score detections after which a track is confirmed. */
  readonly minHits: number
}

/** Objects less visible than this are expected to be detected with a low score or not at all. */
const MIN_RELIABLE_VISIBILITY = 0.5

/**
 * Tracks objects that occlude each other, based on OC-SORT (Cao et al. 2023, "Observation-Centric SORT: Rethinking SORT
 * for Robust Multi-Object Tracking"): lost tracks are recovered by predicted position, direction or last observed
 * position, and their filter is re-updated along the gap.
 *
 * In addition, the visible part of every track is computed from the other tracks before association. Detections are
 * matched with visible parts, go to the object in front, and are completed to full boxes.
 */
export class OcTracker {
  readonly #options: OcTrackerOptions
  #tracks: OcTrack[] = []
  #lastId = 0
  #lastPts = 0

  constructor(options: OcTrackerOptions) {
    this.#options = options
  }

  /** Advances all tracks to `frame`. Returns the confirmed tracks that are detected in it. */
  update({ objects, pts, discontinuity }: Frame): DetectedObject[] {
    if (discontinuity) this.#tracks = []
    for (const track of this.#tracks) track.predict((pts - this.#lastPts) / TICKS_PER_SECOND)
    this.#lastPts = pts
    this.#updateVisibility()
    this.#processDetections(objects)
    const visible = this.#tracks.filter(track => this.#isConfirmed(track) && !isUnmatched(track))
    for (const track of visible) track.id ??= ++this.#lastId
    return visible.map(track => track.toObject())
  }

  #isConfirmed({ hits }: OcTrack): boolean {
    return hits >= this.#options.minHits
  }

  /** Computes the visible part of every track behind the tracks that were detected in the previous frame. */
  #updateVisibility(): void {
    const boxes = this.#tracks.map(({ predictedBox }) => predictedBox)
    const occluders = boxes.filter((_, i) => !isUnmatched(this.#tracks[i]!))
    for (const [i, track] of this.#tracks.entries()) {
      const own = boxes[i]!
      track.visibility = computeVisibility(
        own,
        occluders.filter(other => isCloser(other, own)),
      )
    }
  }

  #processDetections(detections: readonly DetectedObject[]): void {
    const high = detections.filter(isHighScore)
    const low = detections.filter(detection => !isHighScore(detection))
    const isNew = ({ hits, framesSinceUpdate }: OcTrack) => hits === 1 && framesSinceUpdate === 0
    const newTracks = this.#tracks.filter(isNew)
    const established = this.#tracks.filter(track => !isNew(track))
    const seenLastFrame = new Set(established.filter(track => !isUnmatched(track)))
    for (const track of this.#tracks) track.framesSinceUpdate += 1

    const byOverlap = associate(established, high, visibleIou(0.3))
    const acceptsLowScore = (track: OcTrack) =>
      seenLastFrame.has(track) || track.visibility.share < MIN_RELIABLE_VISIBILITY
    const byLowScore = associate(byOverlap.unmatchedTracks.filter(acceptsLowScore), low, visibleIou(0.3))
    const byLastPosition = associate(
      byOverlap.unmatchedTracks.filter(isUnmatched),
      byOverlap.unmatchedDetections,
      lastObservationIou(0.3),
    )
    const lost = byLastPosition.unmatchedTracks.filter(track => !seenLastFrame.has(track))
    const byMotion = associate(lost, byLastPosition.unmatchedDetections, motionSimilarity)
    const byAnyClass = associate(
      byLastPosition.unmatchedTracks.filter(isUnmatched),
      byMotion.unmatchedDetections,
      anyClassIou(0.6),
    )
    const bySecondHit = associate(newTracks, byAnyClass.unmatchedDetections, bufferedIou(0.3))
    associate(bySecondHit.unmatchedTracks, byLowScore.unmatchedDetections, visibleIou(0.5))

    const { maxAge } = this.#options
    this.#tracks = [
      ...this.#tracks.filter(track => track.framesSinceUpdate <= (this.#isConfirmed(track) ? maxAge : 0)),
      ...bySecondHit.unmatchedDetections.map(detection => new OcTrack(detection, this.#options)),
    ]
  }
}

const isUnmatched = ({ framesSinceUpdate }: OcTrack) => framesSinceUpdate > 0
