import { frameResult } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import type { FrameResult } from '@eyrie/element'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'

/** Validates without copying, unlike zod: a channel produces hundreds of objects per second. */
const isValidFrameResult = new Ajv2020().compile<FrameResult>(z.toJSONSchema(frameResult))

/**
 * Throws if a plugin, which is third-party code, returned an invalid result. zod
 * describes the first problem.
 */
export function parseFrameResult(result: unknown): FrameResult {
  return isValidFrameResult(result) ? result : parseAs(frameResult, result, '/result')
}
