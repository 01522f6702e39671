import type { BBox } from '@eyrie/contract/object'
import type { Thresholds } from '@eyrie/element'
import { z } from 'zod'

// The value of the reply.
export { decodeResult, type EncodedResult } from '@eyrie/element/encoded-result'

/**
 * The call with which an element runs a model on a part of a frame. Only its form is validated
 * here; the engine answers what it does not accept with the reason.
 */
export const inferCall = z.strictObject({
  method: z.literal('infer'),
  model: z.string(),
  n: z.unknown().optional(),
  region: z.unknown().optional(),
  thresholds: z.unknown().optional(),
})

export interface InferCall {
  method: 'infer'
  model: string
  /** Number of the frame. */
  n?: unknown
  /** `BBox`; by default the whole picture. */
  region?: unknown
  /** `Thresholds` */
  thresholds?: unknown
}

/**
 * An inference that was accepted. `region` is normalized to 0..1 of the picture and inside of it.
 */
export interface InferRequest {
  n: number
  region: BBox
  thresholds: Thresholds
}
