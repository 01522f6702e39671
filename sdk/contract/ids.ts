import { z } from 'zod'

/** Ids of sources, sinks, pipelines, channels and streams: assigned by the engine, never reused. */
export const id = z.int().min(0).max(2_147_483_647)

/** A list of ids in which none is named twice. */
export const idList = z
  .array(id)
  .refine(ids => new Set(ids).size === ids.length, { error: 'ids must be unique' })
