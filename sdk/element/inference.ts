import type { DetectedObject } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame } from './frame.ts'

/** The size of the picture that later elements should see, as an `image-resize` asks for it. */
export type PictureSize = { width: number; height: number } | { scale: number }

export interface ModelRequest {
  model: string
  hw: 'auto' | 'cpu' | 'igpu' | 'gpu'
  /** `a` keeps every inference worker busy; `s` keeps one free for the newest frame. */
  mode: 'a' | 's'
  /** Size to infer at, for models that take any. */
  size?: PictureSize
}

/** Granted to elements whose manifest needs `inference`: the engine's models on its inference workers. */
export interface Inference {
  open(request: ModelRequest): Promise<Detector>
}

/** A model, ready to run on the frames of one channel. */
export interface Detector {
  /** The view that the model reads; the element hands it on as its own. */
  readonly view: ViewSpec
  /** Objects of one frame in the source's coordinates. Throws `FrameGone` if the frame has been overtaken. */
  detect(
    frame: Frame,
    thresholds: { score_threshold: number; iou_threshold: number },
  ): Promise<DetectedObject[]>
  close(): void
}

/** The frame's picture is no longer in its ring; the channel drops the frame and counts it. */
export class FrameGone extends Error {
  override readonly name = 'FrameGone'
  constructor(n: number) {
    super(`frame ${n} has been overtaken by newer ones`)
  }
}
