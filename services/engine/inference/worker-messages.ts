import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import type { Provider } from '@eyrie/model-store/session'
import type { RingLocation } from '../frames/ring-reader.ts'

export interface Thresholds {
  score_threshold: number
  iou_threshold: number
}

/** Requests are answered in order. `model` is an id that the engine assigns. */
export type WorkerRequest =
  | { type: 'load'; model: number; card: ModelCard; file: string; provider: Provider }
  | { type: 'run'; model: number; ring: RingLocation; n: number; thresholds: Thresholds }

/** Notices are handled at once and not answered. */
export type WorkerNotice = { type: 'unload'; model: number } | { type: 'close-ring'; ring: string }

export type WorkerAnswer =
  | { type: 'loaded' }
  /** `cpuMs`: CPU time of the inference. `size`: of the model's input, in pixels. */
  | { type: 'objects'; objects: DetectedObject[]; cpuMs: number; size: { width: number; height: number } }
  /** The frame was overwritten before it was read. */
  | { type: 'overwritten' }
  | { type: 'failed'; reason: string }

/** The first message of a worker. */
export interface WorkerReady {
  type: 'ready'
  providers: Provider[]
}

export type ToWorker = WorkerRequest | WorkerNotice
export type FromWorker = WorkerReady | WorkerAnswer
