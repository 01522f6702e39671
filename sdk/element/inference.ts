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
  /** `a` (throughput) uses all inference workers; `s` (latency) reserves one for the newest frame. */
  mode: 'a' | 's'
  /** Input size. Models with a fixed input size ignore it. */
  size?: PictureSize
}

/** Access to the engine's models, which run on its inference workers. */
export interface Inference {
  /** Loads the model and waits until it is ready. Rejects if the model is unknown or no device can run it. */
  open(request: ModelRequest): Promise<Detector>
}

/** A loaded model, bound to the frames of one channel. */
export interface Detector {
  /** The view of a frame that the model reads. The element must request it as its own `view`. */
  readonly view: ViewSpec
  /**
   * Detects objects in one frame.
   *
   * @returns Objects in normalised source coordinates (0..1).
   * @throws {FrameDroppedError} The frame's picture is no longer available.
   */
  detect(
    frame: Frame,
    thresholds: { score_threshold: number; iou_threshold: number },
  ): Promise<DetectedObject[]>
  close(): void
}

/** Newer frames superseded a frame before it could be processed. The channel drops the frame and counts it. */
export class FrameDroppedError extends Error {
  override readonly name = 'FrameDroppedError'
  constructor(n: number) {
    super(`frame ${n} was superseded by newer frames`)
  }
}
