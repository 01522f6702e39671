import { z } from 'zod'

/**
 * Must be incremented when the pixels or the ground truth change, so that cached
 * scenes are rendered again.
 */
export const SCENE_VERSION = 1

const point = z.object({ x: z.number(), y: z.number() })
const outline = z.object({ name: z.string(), coords: z.array(point) })
const objectClass = z.enum(['person', 'car'])

const truthObject = z.object({
  track: z.int(),
  class: objectClass,
  /**
   * Top left corner and size in fractions of the picture. Includes occluded parts, and is
   * clipped to the picture.
   */
  bbox: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  /** Share of the part inside the picture that is not occluded, from 0 to 1. */
  visibility: z.number(),
  /** Position of the feet in fractions of the picture. */
  foot: point,
  /** Position on the ground in metres. */
  ground: point,
})

const truthFrame = z.object({ n: z.int(), objects: z.array(truthObject) })

/** Ground truth of a rendered scene. Frame numbers start at 0; durations are in seconds. */
export const sceneTruth = z.object({
  version: z.literal(SCENE_VERSION),
  seed: z.int(),
  width: z.int(),
  height: z.int(),
  fps: z.number(),
  frames: z.array(truthFrame),
  lines: z.array(outline),
  zones: z.array(outline),
  crossings: z.array(
    z.object({
      line: z.string(),
      frame: z.int(),
      track: z.int(),
      class: objectClass,
      direction: z.enum(['up', 'down']),
    }),
  ),
  visits: z.array(
    z.object({
      zone: z.string(),
      track: z.int(),
      class: objectClass,
      enter_frame: z.int(),
      /** The first frame outside; null if the object is inside until the end of the scene. */
      exit_frame: z.int().nullable(),
      dwell_s: z.number(),
    }),
  ),
  near_misses: z.array(
    z.object({ frame: z.int(), tracks: z.tuple([z.int(), z.int()]), distance_m: z.number() }),
  ),
})

export type SceneTruth = z.infer<typeof sceneTruth>
export type TruthFrame = z.infer<typeof truthFrame>
export type TruthObject = z.infer<typeof truthObject>
export type Outline = z.infer<typeof outline>
