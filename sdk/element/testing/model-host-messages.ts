import type { BBox } from '@eyrie/contract/object'
import type { Thresholds } from '../inference.ts'

/**
 * Messages between the test kit and the program that runs models for tests. Each is a line of JSON.
 * The program answers each request with one reply, in any order.
 */

/** `begin` is sent before an element processes a frame, `end` afterwards. */
export type ModelHostRequest = { id: number } & (
  | { type: 'open' }
  | { type: 'begin'; n: number; picture: HostedPicture | undefined }
  | {
      type: 'infer'
      model: string
      n: unknown
      region?: BBox | undefined
      thresholds?: Thresholds | undefined
    }
  | { type: 'end'; n: number }
)

export interface HostedPicture {
  width: number
  height: number
  /** `RGB`; no other format is accepted. */
  format: string
  /** The pixels as base64. */
  data: string
}

/** `value` is the result of an inference (`EncodedResult`), and undefined otherwise. */
export type ModelHostReply = { id: number; value?: unknown; error?: string }
