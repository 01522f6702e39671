import type { Pacing } from '@eyrie/contract'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Detections, Frame, ModelRequest, Thresholds } from '@eyrie/element'
import type { RingLocation } from '../frames/ring-reader.ts'

/**
 * A channel that uses inference: its elements open detectors, which are models that run on the
 * frames of the channel.
 */
export interface InferenceClient {
  channel: number
  /**
   * `realtime`: a newer frame of the channel replaces a waiting frame. `all`: every frame is
   * processed.
   */
  pacing: Pacing
  /** Current priority of the channel's pipeline, 0 to 9. */
  priority(): number
  /** Called when a frame was dropped in favour of pipelines of higher priority. */
  onYield?(): void
  /**
   * Returns the frame ring (buffer in shared memory) with the pictures of a view, which is a
   * picture size and pixel format. Undefined until the media service has created it.
   */
  findRing(view: ViewSpec): RingLocation | undefined
  /** Requests pictures of a view in addition to the views that the elements read. */
  requestView?(view: ViewSpec): ViewRequest
  /** Called after the view of a detector has changed. */
  onViewChange?(): void
  /** Called when an element opens a detector. */
  observe?(request: ModelRequest): DetectorObserver | undefined
}

/**
 * A request for additional pictures. Frames do not wait for these pictures until
 * `awaitPictures` is called.
 */
export interface ViewRequest {
  /** Number of the newest frame with a picture; 0 before the first. */
  newest(): number
  /** From now on, a frame is delivered only when it has a picture. */
  awaitPictures(): void
  end(): void
}

/** Observes a detector of a channel. It observes failures to open the detector, too. */
export interface DetectorObserver {
  onDetection(detection: ObservedDetection): void
  /** `model` is the name of the model that has failed. It may run in place of the requested one. */
  onFailure(model: string, reason: string): void
  onClose(): void
}

/** What a detector has found in a frame. */
export interface ObservedDetection {
  frame: Frame
  /** Name of the model that has run. It may run in place of the requested one. */
  model: string
  thresholds: Thresholds
  detections: Detections
  /** CPU time of the inference. */
  cpuMs: number
}
