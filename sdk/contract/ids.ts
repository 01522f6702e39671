import { z } from 'zod'

/**
 * Id of a source, sink, pipeline, channel or stream. The engine assigns ids and never reuses them.
 */
export const id = z.int().min(0).max(2_147_483_647)

/** A list of distinct ids. */
export const idList = z
  .array(id)
  .refine(ids => new Set(ids).size === ids.length, { error: 'ids must be unique' })
