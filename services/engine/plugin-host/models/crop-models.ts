import type { BBox } from '@eyrie/contract/object'
import type { OwnModel } from '@eyrie/contract/plugin-inference'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Thresholds } from '@eyrie/element'
import type { EncodedResult } from '../protocol/infer-call.ts'

/** A model of the catalog by name, or one in the folder of a plugin. */
export type CropModelSource = { name: string } | { own: OwnModel; folder: string }

/** A loaded model, bound to the pictures of one channel. */
export interface CropModel {
  /**
   * Runs the model on a region, normalized to 0..1 of the picture and inside of it. Rejects with
   * `FrameDroppedError` if the picture is no longer available, and with the reason of `signal` if
   * it is aborted before the model runs.
   */
  run(request: {
    n: number
    region: BBox
    thresholds: Thresholds
    signal: AbortSignal
  }): Promise<EncodedResult>
  close(): void
}

/** The models for the elements of one channel. */
export interface CropModels {
  /** Loads a model that reads the pictures of `view`. Rejects with the reason. */
  open(source: CropModelSource, view: ViewSpec): Promise<CropModel>
}
