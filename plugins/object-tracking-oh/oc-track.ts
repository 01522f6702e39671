import type { BBox, DetectedObject } from '@eyrie/element'
import {
  type AssociableTrack,
  ClassVote,
  type Detection,
  KalmanBox,
  LOW_SCORE_NOISE_SCALE,
} from '@eyrie/element/tracking'
import { restoreOccludedEdges, type Visibility } from './occlusion.ts'
import { SmoothedTrail, type TrailOptions } from './smoothed-trail.ts'

/**
 * Number of frames with a detection over which the direction of a track is measured (Δt of
 * OC-SORT).
 */
const DIRECTION_SPAN = 3

/**
 * An object that is followed from frame to frame, also while it is hidden behind other objects. A
 * Kalman filter predicts its box in the next frame; a detection that is matched with the track
 * corrects the filter.
 */
export class OcTrack implements AssociableTrack<Detection> {
  /** Assigned when the track is confirmed. */
  id: number | undefined
  /** Number of detections with a high score, including the one with which the track began. */
  highScoreCount = 1
  /**
   * Analysed frames since the last matched detection: 0 once the track is matched in the current
   * frame.
   */
  framesSinceUpdate = 0
  /**
   * The part of the predicted box that closer objects do not hide in this frame.
   * Updated by the tracker.
   */
  visibility: Visibility
  #kalman: KalmanBox
  /** State of the filter at the last observation, the box of the last matched detection. */
  #kalmanAtObservation: KalmanBox
  /** Duration of each frame since the last observation, in seconds. */
  #secondsSinceObservation: number[] = []
  /** The last `DIRECTION_SPAN + 1` observed boxes. */
  readonly #observations: BBox[]
  readonly #trail: SmoothedTrail
  readonly #classVote = new ClassVote()
  #object: DetectedObject

  constructor(first: Detection, trailOptions: TrailOptions) {
    this.#kalman = new KalmanBox(first.bbox)
    this.#kalmanAtObservation = this.#kalman.clone()
    this.#observations = [first.bbox]
    this.#trail = new SmoothedTrail(trailOptions)
    this.#trail.add(first.bbox)
    this.#object = this.#classify(first, first.bbox)
    this.visibility = { share: 1, bbox: first.bbox }
  }

  get class(): string {
    return this.#object.class
  }

  get predictedBox(): BBox {
    return this.#kalman.bbox
  }

  /** Standard deviation of the predicted center along each axis. */
  get centerDeviation(): { x: number; y: number } {
    return this.#kalman.centerDeviation
  }

  get lastObservation(): BBox {
    return this.#observations.at(-1)!
  }

  /** The observation from which the direction to the last one is measured. */
  get earlierObservation(): BBox {
    return this.#observations[0]!
  }

  /** Advances the track by one frame, `seconds` after the previous one. */
  predict(seconds: number): void {
    this.framesSinceUpdate += 1
    this.#kalman.predict(seconds)
    this.#secondsSinceObservation.push(seconds)
  }

  /** Applies the detection of this frame that was matched with the track. */
  update(detection: Detection): void {
    const bbox = restoreOccludedEdges(detection.bbox, this.predictedBox, this.visibility.bbox)
    const isReliable = detection.confidence === 'high'
    const noiseScale = isReliable ? 1 : LOW_SCORE_NOISE_SCALE

    if (this.#secondsSinceObservation.length > 1) this.#replayGap(bbox, noiseScale)
    this.#kalman.update(bbox, noiseScale)
    this.#kalmanAtObservation = this.#kalman.clone()
    this.#secondsSinceObservation = []

    this.#observations.push(bbox)
    if (this.#observations.length > DIRECTION_SPAN + 1) this.#observations.shift()
    this.#trail.add(bbox)

    this.#object = this.#classify(detection, bbox)
    if (isReliable) this.highScoreCount += 1
    this.framesSinceUpdate = 0
  }

  /**
   * Adds the detection to the votes for the class. Returns it with the class of the
   * track, and with this box.
   */
  #classify(detection: Detection, bbox: BBox): DetectedObject {
    const { confidence: _, ...object } = detection
    return { ...object, bbox, class: this.#classVote.add(detection) }
  }

  /** Returns the object with its track id and its trail. */
  toObject(): DetectedObject {
    const trail = this.#trail.points
    const object = { ...this.#object, track: this.id }
    if (trail.length === 0) return object
    return { ...object, attributes: { ...object.attributes, trail } }
  }

  /**
   * Replaces the predictions made while the track was lost: resets the filter to the last
   * observation, and updates it frame by frame along the straight line to `bbox` (OC-SORT's
   * observation-centric re-update). Extends the trail along this line, too.
   */
  #replayGap(bbox: BBox, noiseScale: number): void {
    const frames = this.#secondsSinceObservation
    const totalSeconds = frames.reduce((sum, seconds) => sum + seconds, 0)
    const from = this.lastObservation

    let elapsedSeconds = 0
    this.#kalman = this.#kalmanAtObservation.clone()
    for (const seconds of frames.slice(0, -1)) {
      elapsedSeconds += seconds
      const virtualBox = interpolate(from, bbox, elapsedSeconds / totalSeconds)
      this.#kalman.predict(seconds)
      this.#kalman.update(virtualBox, noiseScale)
      this.#trail.add(virtualBox)
    }
    this.#kalman.predict(frames.at(-1)!)
  }
}

/** Returns the box at a share of the way between two boxes, from 0 to 1. */
function interpolate(from: BBox, to: BBox, share: number): BBox {
  const blend = (key: keyof BBox) => from[key] + share * (to[key] - from[key])
  return { x: blend('x'), y: blend('y'), w: blend('w'), h: blend('h') }
}
