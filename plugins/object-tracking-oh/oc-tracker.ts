import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import {
  anyClassIou,
  associate,
  bufferedIou,
  type Detection,
  rateDetections,
} from '@eyrie/element/tracking'
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

/**
 * An object of which a smaller share is visible is expected to be detected with a low
 * score, or not at all.
 */
const MIN_RELIABLE_VISIBILITY = 0.5

/**
 * Minimum IoU (intersection over union) of a track and a detection of the same
 * class, as in OC-SORT.
 */
const MIN_IOU = 0.3
/** Stricter limit for low-score detections of new tracks, because both may be false positives. */
const MIN_NEW_TRACK_LOW_SCORE_IOU = 0.5
/** Stricter limit across classes, because a detection of another class is often another object. */
const MIN_ANY_CLASS_IOU = 0.6

/**
 * Tracks objects that occlude each other, based on OC-SORT (Cao et al. 2023, "Observation-Centric
 * SORT: Rethinking SORT for Robust Multi-Object Tracking"): lost tracks are recovered by predicted
 * position, direction or last observed position, and their filter is re-updated along the gap.
 *
 * In addition, the visible part of every track is computed from the other tracks before
 * association. Detections are matched with visible parts, go to the object in front, and are
 * completed to full boxes.
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
  update(frame: Frame): DetectedObject[] {
    const { pts, discontinuity } = frame
    if (discontinuity) this.#tracks = []

    // When a camera corrects its clock, the timestamps step back once, but objects do not.
    const seconds = Math.max(0, pts - this.#lastPts) / TICKS_PER_SECOND
    for (const track of this.#tracks) track.predict(seconds)
    this.#lastPts = pts

    this.#updateVisibility()
    this.#matchDetections(rateDetections(frame))

    const detected = this.#tracks.filter(track => this.#isConfirmed(track) && isMatched(track))
    for (const track of detected) track.id ??= this.#nextId()
    return detected.map(track => track.toObject())
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #isConfirmed({ highScoreCount }: OcTrack): boolean {
    return highScoreCount >= this.#options.minHits
  }

  /**
   * Computes the visible part of every track behind the tracks that were detected in the previous
   * frame.
   */
  #updateVisibility(): void {
    const occluders = this.#tracks
      .filter(wasMatchedInPreviousFrame)
      .map(({ predictedBox }) => predictedBox)
    for (const track of this.#tracks) {
      const box = track.predictedBox
      const closerBoxes = occluders.filter(occluder => isCloser(occluder, box))
      track.visibility = computeVisibility(box, closerBoxes)
    }
  }

  /**
   * Updates the tracks that match a detection, deletes expired tracks and starts a track for each
   * remaining detection.
   */
  #matchDetections(detections: readonly Detection[]): void {
    const newTracks = this.#tracks.filter(isNew)
    const establishedTracks = this.#tracks.filter(track => !isNew(track))
    const highScore = detections.filter(({ confidence }) => confidence === 'high')
    const lowScore = detections.filter(({ confidence }) => confidence !== 'high')

    const remaining = matchEstablishedTracks(establishedTracks, highScore, lowScore)
    const newByHighScore = associate(newTracks, remaining.highScore, bufferedIou(MIN_IOU))
    associate(
      newByHighScore.unmatchedTracks,
      remaining.lowScore,
      visibleIou(MIN_NEW_TRACK_LOW_SCORE_IOU),
    )

    this.#tracks = [
      ...this.#tracks.filter(track => !this.#isExpired(track)),
      ...newByHighScore.unmatchedDetections.map(detection => new OcTrack(detection, this.#options)),
    ]
  }

  /** Unconfirmed tracks expire in the first frame without a match. */
  #isExpired(track: OcTrack): boolean {
    const maxAge = this.#isConfirmed(track) ? this.#options.maxAge : 0
    return track.framesSinceUpdate > maxAge
  }
}

/**
 * Matches detections with tracks that have more than one detection, from the most to the least
 * reliable evidence. Each `associate` updates the tracks that it matches. Returns the
 * unmatched detections.
 */
function matchEstablishedTracks(
  tracks: readonly OcTrack[],
  highScore: readonly Detection[],
  lowScore: readonly Detection[],
) {
  const byOverlap = associate(tracks, highScore, visibleIou(MIN_IOU))
  const lowScoreTracks = byOverlap.unmatchedTracks.filter(canMatchLowScore)
  const byLowScore = associate(lowScoreTracks, lowScore, visibleIou(MIN_IOU))

  // Recover the other tracks with the remaining high-score detections.
  const byLastPosition = associate(
    byOverlap.unmatchedTracks.filter(track => !isMatched(track)),
    byOverlap.unmatchedDetections,
    lastObservationIou(MIN_IOU),
  )
  const lostTracks = byLastPosition.unmatchedTracks.filter(
    track => !wasMatchedInPreviousFrame(track),
  )
  const byMotion = associate(lostTracks, byLastPosition.unmatchedDetections, motionSimilarity)
  const byAnyClass = associate(
    byLastPosition.unmatchedTracks.filter(track => !isMatched(track)),
    byMotion.unmatchedDetections,
    anyClassIou(MIN_ANY_CLASS_IOU),
  )
  return { highScore: byAnyClass.unmatchedDetections, lowScore: byLowScore.unmatchedDetections }
}

/** Whether a detection of the current frame has updated the track. */
const isMatched = ({ framesSinceUpdate }: OcTrack) => framesSinceUpdate === 0

/**
 * Whether the track was detected in the previous frame. False once the track is matched
 * in the current frame.
 */
const wasMatchedInPreviousFrame = ({ framesSinceUpdate }: OcTrack) => framesSinceUpdate === 1

/** Whether the track began in the previous frame. */
const isNew = (track: OcTrack) => track.highScoreCount === 1 && wasMatchedInPreviousFrame(track)

/**
 * Whether a low score may match the track: it was detected in the previous frame, or an occlusion
 * explains the low score.
 */
const canMatchLowScore = (track: OcTrack) =>
  wasMatchedInPreviousFrame(track) || track.visibility.share < MIN_RELIABLE_VISIBILITY
