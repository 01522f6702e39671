import { z } from 'zod'

/** A point in the frame. x points right, y down; both are from 0 to 1. */
export const point = z.strictObject({ x: z.number().min(0).max(1), y: z.number().min(0).max(1) })
export type Point = z.infer<typeof point>

/**
 * A bounding box: its top left corner and size as a share of the frame. Elements may pass on boxes
 * that extend beyond the frame; in the output, boxes are clipped to the frame.
 */
export const bbox = z.strictObject({
  x: z.number(),
  y: z.number(),
  w: z.number().min(0),
  h: z.number().min(0),
})
export type BBox = z.infer<typeof bbox>

/** An object in a frame. */
export const detectedObject = z.strictObject({
  class: z.string(),
  score: z.number().min(0).max(1),
  bbox,
  /** Id that a tracker has assigned to the object, the same in all frames. */
  track: z.int().min(1).optional(),
  /** Further properties that elements have added, by name. */
  attributes: z.record(z.string(), z.unknown()).optional(),
  /** A vector that is similar for similar objects. */
  embedding: z.array(z.number()).optional(),
})
export type DetectedObject = z.infer<typeof detectedObject>

/**
 * The counts of a line or zone, by statistic: `up`, `down`, `total`, `occupancy`, `dwell_time`, …
 */
export const counter = z.record(z.string(), z.number())
export type Counter = z.infer<typeof counter>

/** Counters, by name of the line or zone. */
export const counters = z.record(z.string(), counter)
export type Counters = z.infer<typeof counters>

/**
 * Maximum time between an event and its picture. A picture from further away would
 * show another situation.
 */
export const MAX_PICTURE_OFFSET_MS = 1000

/**
 * The picture of an event may show an earlier or later frame, because channels do not store a
 * picture of every frame.
 */
export const pictureOffset = z.int().min(-MAX_PICTURE_OFFSET_MS).max(MAX_PICTURE_OFFSET_MS).meta({
  description:
    'Milliseconds from the event to the moment that its picture shows; negative if that moment was earlier. Absent if the picture shows the frame of the event itself',
})

/**
 * An event that an element has detected in a frame, such as a line crossing.
 * Elements may add fields.
 */
export const eventData = z.looseObject({
  type: z.string().min(1),
  /** Name of the line or zone. */
  name: z.string().optional(),
  /** Direction of a crossing, such as `up`. */
  direction: z.string().optional(),
  /** The object that caused the event. */
  track: z.int().optional(),
  class: z.string().optional(),
  bbox: bbox.optional(),
  /** SHA-256 of the picture of the event. */
  picture: z.string().optional(),
  picture_offset: pictureOffset.optional(),
})
export type EventData = z.infer<typeof eventData>

/** What an element returns for a frame. */
export const frameResult = z.strictObject({
  objects: z.array(detectedObject).optional(),
  lowScoreObjects: z.array(detectedObject).optional(),
  counters: counters.optional(),
  events: z.array(eventData).optional(),
})
