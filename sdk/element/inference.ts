import type { DetectedObject } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame } from './frame.ts'

/** Size of a picture in pixels, or as a factor of the size of the source. */
export type PictureSize = { width: number; height: number } | { scale: number }

/** A request to load a model for the frames of a channel. */
export interface ModelRequest {
  /** Name of the model in the catalog. */
  model: string
  /**
   * Device that runs the model: the processor, its integrated GPU or a separate GPU. With
   * `auto`, the engine chooses.
   */
  hw: 'auto' | 'cpu' | 'igpu' | 'gpu'
  /**
   * What the engine optimizes. `a`: throughput, with all inference workers. `s`: latency, with one
   * worker reserved for the newest frame.
   */
  mode: 'a' | 's'
  /** Size of the pictures that the model reads. Ignored by models with a fixed input size. */
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
   * The view of a frame that the model reads. The element must have a getter `view` that returns
   * it, because it changes when the engine replaces the model with one that reads other pictures.
   */
  readonly view: ViewSpec
  /**
   * Detects objects in one frame, in normalized source coordinates (0..1).
   *
   * @throws {FrameDroppedError} The frame's picture is no longer available.
   */
  detect(frame: Frame, thresholds: Thresholds): Promise<Detections>
  /** Releases the model. The element calls it in its own `close`. */
  close(): void
}

/**
 * Thresholds that decide which objects a model reports. For a threshold that is undefined, the
 * threshold in the card of the model applies.
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
 * Newer frames have superseded a frame before it could be processed. If an element lets this error
 * pass, the channel drops the frame and counts it, and the element remains open.
 */
export class FrameDroppedError extends Error {
  override readonly name = 'FrameDroppedError'
  constructor(n: number) {
    super(`frame ${n} was superseded by newer frames`)
  }
}
