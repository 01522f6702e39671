import { counters, detectedObject, eventData } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import type { FrameResult } from '@eyrie/element'
import { z } from 'zod'

const frameResult = z.strictObject({
  objects: z.array(detectedObject).optional(),
  counters: counters.optional(),
  events: z.array(eventData).optional(),
}) satisfies z.ZodType<FrameResult>

/** Plugins are other people's code: what does not keep the contract must not reach the elements after it. */
export function checkResult(result: unknown): FrameResult {
  return parseAs(frameResult, result, '/result')
}
