import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import type { Provider } from '@eyrie/model-store/session'
import type { RingPlace } from '../frames/ring-reader.ts'

export interface Thresholds {
  score_threshold: number
  iou_threshold: number
}

/** Asked of a worker, which answers them one after the other. `model` is the number that the engine has given the model. */
export type WorkerRequest =
  | { type: 'load'; model: number; card: ModelCard; file: string; provider: Provider }
  | { type: 'run'; model: number; ring: RingPlace; n: number; thresholds: Thresholds }

/** Told at any time and not answered. */
export type WorkerNotice = { type: 'unload'; model: number } | { type: 'forget'; ring: string }

export type WorkerAnswer =
  | { type: 'loaded' }
  /** With the CPU time that it took, and the size of the picture that the model saw. */
  | { type: 'objects'; objects: DetectedObject[]; cpuMs: number; size: { width: number; height: number } }
  /** The frame had been overwritten before it was read. */
  | { type: 'gone' }
  | { type: 'failed'; reason: string }

/** A worker's first message. */
export interface WorkerReady {
  type: 'ready'
  providers: Provider[]
}

export type ToWorker = WorkerRequest | WorkerNotice
export type FromWorker = WorkerReady | WorkerAnswer
