import type { BBox } from '@eyrie/contract/object'
import type { Thresholds } from '@eyrie/element'
import { z } from 'zod'
import type { InferCall } from '../protocol/infer-call.ts'

const WHOLE_PICTURE: BBox = { x: 0, y: 0, w: 1, h: 1 }

/** Validates the calls of elements, which may have sent anything. */

const share = z.number().min(0).max(1).optional()
const thresholds = z.strictObject({ score_threshold: share, iou_threshold: share })
const box = z.strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() })

/**
 * Returns the part of a region that is inside of the picture. Throws an `Error` if there is none.
 */
export function parseRegion(region: unknown): BBox {
  if (region === undefined) return WHOLE_PICTURE
  // JSON has no NaN and no infinity: such numbers arrive as null.
  const parsed = box.safeParse(region).data
  if (!parsed) throw new Error('the region must have the numbers x, y, w and h, and nothing else')
  const { x, y, w, h } = parsed
  const left = Math.max(0, x)
  const top = Math.max(0, y)
  const width = Math.min(1, x + w) - left
  const height = Math.min(1, y + h) - top
  if (width > 0 && height > 0) return { x: left, y: top, w: width, h: height }
  throw new Error(
    `the region ${JSON.stringify(parsed)} is empty or outside of the picture, which has the coordinates 0 to 1`,
  )
}

/** Throws an `Error` if the thresholds of a call are no scores from 0 to 1. */
export function parseThresholds({ thresholds: value }: InferCall): Thresholds {
  if (value === undefined) return {}
  const parsed = thresholds.safeParse(value).data
  if (!parsed) {
    throw new Error('thresholds must have only score_threshold and iou_threshold, from 0 to 1')
  }
  return parsed
}
