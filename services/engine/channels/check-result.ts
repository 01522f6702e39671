import { counters, detectedObject, eventData } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import type { FrameResult } from '@eyrie/element'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'

const frameResult = z.strictObject({
  objects: z.array(detectedObject).optional(),
  counters: counters.optional(),
  events: z.array(eventData).optional(),
}) satisfies z.ZodType<FrameResult>

/** What is right is told without a copy of it: there are some hundred objects in a channel's second. */
const isRight = new Ajv2020().compile<FrameResult>(z.toJSONSchema(frameResult))

/** Plugins are other people's code: what does not keep the contract must not reach the elements after it. */
export function checkResult(result: unknown): FrameResult {
  return isRight(result) ? result : parseAs(frameResult, result, '/result')
}
