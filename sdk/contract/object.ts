import { z } from 'zod'

/** A point in the frame: 0..1, x to the right, y down. */
export const point = z.strictObject({ x: z.number().min(0).max(1), y: z.number().min(0).max(1) })
export type Point = z.infer<typeof point>

/**
 * Top left corner and size, 0..1 of the frame. Between elements a box may extend beyond the edge of the frame; in the
 * output it is clipped to the frame.
 */
export const bbox = z.strictObject({
  x: z.number(),
  y: z.number(),
  w: z.number().min(0),
  h: z.number().min(0),
})
export type BBox = z.infer<typeof bbox>

export const detectedObject = z.strictObject({
  class: z.string(),
  score: z.number().min(0).max(1),
  bbox,
  track: z.int().min(1).optional(),
  attributes: z.record(z.string(), z.unknown()).optional(),
  embedding: z.array(z.number()).optional(),
})
export type DetectedObject = z.infer<typeof detectedObject>

/** Values of one line or zone by key: `up`, `down`, `total`, `occupancy`, `dwell_time`, … */
export const counter = z.record(z.string(), z.number())
export type Counter = z.infer<typeof counter>

/** Counters by name of the line or zone. */
export const counters = z.record(z.string(), counter)
export type Counters = z.infer<typeof counters>

/** Something that an element has detected in a frame. Elements may add fields. */
export const eventData = z.looseObject({
  type: z.string().min(1),
  name: z.string().optional(),
  direction: z.string().optional(),
  track: z.int().optional(),
  class: z.string().optional(),
  bbox: bbox.optional(),
  picture: z.string().optional(),
})
export type EventData = z.infer<typeof eventData>
