import type { ModelCard } from '@eyrie/contract/model'
import type { BBox } from '@eyrie/contract/object'
import type { Detections, Thresholds } from '@eyrie/element'
import type { Provider } from '@eyrie/model-store/session'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { CropInput } from './crops/crop-input.ts'
import type { CropResult } from './crops/crop-result.ts'

/**
 * Messages between the engine and its inference workers, the child processes that run models. The
 * engine sends requests and notices; a worker answers each request with one message.
 */

/** Loads a model under an id that the engine has chosen. */
export interface LoadRequest {
  type: 'load'
  model: number
  card: ModelCard | CropModelCard
  file: string
  provider: Provider
}

/** Runs a loaded model on frame `n` of a ring, a buffer of numbered frames in shared memory. */
export interface RunRequest {
  type: 'run'
  model: number
  ring: RingLocation
  n: number
  thresholds: Thresholds
}

/**
 * Runs a model on a part of frame `n`. `region` is normalized to 0..1 of the picture and inside of
 * it.
 */
export interface CropRequest {
  type: 'crop'
  model: number
  ring: RingLocation
  n: number
  region: BBox
  thresholds: Thresholds
}

/** The worker answers its requests in order. */
export type WorkerRequest = LoadRequest | RunRequest | CropRequest

/** A model that runs on parts of frames, for elements of plugins. */
export interface CropModelCard {
  kind: 'crops'
  name: string
  sha256: string
  input: CropInput
  /**
   * How the output of a detection model is decoded; undefined for models whose outputs are
   * returned as they are.
   */
  detector: ModelCard | undefined
}

/** The worker handles notices immediately and does not answer them. */
export type WorkerNotice = { type: 'unload'; model: number } | { type: 'close-ring'; ring: string }

export type WorkerAnswer =
  | { type: 'loaded' }
  /** `cpuMs`: CPU time of the inference. `size`: size of the model's input in pixels. */
  | {
      type: 'detections'
      detections: Detections
      cpuMs: number
      size: { width: number; height: number }
    }
  | { type: 'cropped'; result: CropResult }
  /** The frame was overwritten before it was read. */
  | { type: 'overwritten' }
  | { type: 'failed'; reason: string }

/** The first message of a worker. */
export interface WorkerReady {
  type: 'ready'
  providers: Provider[]
  /** Whether all code of the worker was compiled in advance. */
  isCompiled: boolean
}

export type ToWorker = WorkerRequest | WorkerNotice
export type FromWorker = WorkerReady | WorkerAnswer
