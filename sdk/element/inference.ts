import type { DetectedObject } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame } from './frame.ts'

/** Size of a picture in pixels, or as a factor of the size of the source. */
export type PictureSize = { width: number; height: number } | { scale: number }

/** A request to run a model. */
export interface ModelRequest {
  /** Name of the model in the catalog. */
  model: string
  hw: 'auto' | 'cpu' | 'igpu' | 'gpu'
  /**
   * `a` (throughput) uses all inference workers; `s` (latency) reserves one for the newest frame.
   */
  mode: 'a' | 's'
  /** Input size. Models with a fixed input size ignore it. */
  size?: PictureSize
}

/** Access to the engine's models, which run on its inference workers. */
export interface Inference {
  /**
   * Loads the model and waits until it is ready. Rejects if the model is unknown or
   * no device can run it.
   */
  open(request: ModelRequest): Promise<Detector>
}

/** A loaded model, bound to the frames of one channel. */
export interface Detector {
  /**
   * The view of a frame that the model reads. The element must return it as its own `view`, from a
   * getter: the view changes when the model is replaced by one that reads other pictures.
   */
  readonly view: ViewSpec
  /**
   * Detects objects in one frame, in normalized source coordinates (0..1).
   *
   * @throws {FrameDroppedError} The frame's picture is no longer available.
   */
  detect(frame: Frame, thresholds: Thresholds): Promise<Detections>
  close(): void
}

/**
 * Which of the objects that a model finds are reported. A threshold that is undefined is that
 * of the model's card.
 */
export interface Thresholds {
  /**
   * Objects with a lower score are not reported. Replaces all thresholds in the card, including
   * those of single classes.
   */
  score_threshold?: number | undefined
  /**
   * Of two objects that overlap by more than this intersection over union, the one with the
   * lower score is discarded.
   */
  iou_threshold?: number | undefined
}

/** The objects in one frame, by descending score. */
export interface Detections {
  /** The objects that the thresholds select. */
  objects: DetectedObject[]
  /** Further objects with a score of at least 0.1, for `lowScoreObjects` of the frame. */
  lowScoreObjects: DetectedObject[]
}

/**
 * Newer frames superseded a frame before it could be processed. The channel drops the
 * frame and counts it.
 */
export class FrameDroppedError extends Error {
  override readonly name = 'FrameDroppedError'
  constructor(n: number) {
    super(`frame ${n} was superseded by newer frames`)
  }
}
