import { z } from 'zod'
import type { FrameResult } from './film/frames.ts'
import { countCrossings, findVisits } from './geometry.ts'
import { findNearMisses } from './near-miss.ts'

/** Version of the scene: changed pixels or truth need a new one, so that caches are rendered anew. */
export const SCENE_VERSION = 1

const point = z.object({ x: z.number(), y: z.number() })
const outline = z.object({ name: z.string(), coords: z.array(point) })
const objectClass = z.enum(['person', 'car'])

const truthObject = z.object({
  track: z.int(),
  class: objectClass,
  /** Top left and size, 0..1 of the picture; the whole object, cut at the picture's edges. */
  bbox: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  /** Share of what lies within the picture that nothing hides. */
  visibility: z.number(),
  /** Where it stands in the picture, 0..1, and on the ground, in metres. */
  foot: point,
  ground: point,
})

const truthFrame = z.object({ n: z.int(), objects: z.array(truthObject) })

/** What truly happens in a rendered scene. Frames count from 0; times in seconds. */
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
      /** The first frame outside again; null while the object is still inside at the end. */
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

const rounded = (x: number, digits: number): number => Math.round(x * digits) / digits

/** The truth of one frame as it is written down. */
export function describeFrame({ n, objects }: FrameResult, width: number, height: number): TruthFrame {
  const share = (x: number): number => rounded(x, 1e5)
  return {
    n,
    objects: objects
      .filter(({ bounds }) => bounds.right > bounds.left && bounds.bottom > bounds.top)
      .map(({ track, class: kind, bounds, visibility, foot, ground }) => ({
        track,
        class: kind,
        bbox: {
          x: share(bounds.left / width),
          y: share(bounds.top / height),
          w: share((bounds.right - bounds.left) / width),
          h: share((bounds.bottom - bounds.top) / height),
        },
        visibility: rounded(visibility, 1e3),
        foot: { x: share(foot[0] / width), y: share(foot[1] / height) },
        ground: { x: rounded(ground[0], 1e3), y: rounded(ground[1], 1e3) },
      })),
  }
}

/** All that follows from the frames: crossings, visits and near misses. */
export function assembleTruth(
  scene: { seed: number; width: number; height: number; fps: number },
  frames: TruthFrame[],
  { lines, zones }: { lines: Outline[]; zones: Outline[] },
): SceneTruth {
  return {
    version: SCENE_VERSION,
    ...scene,
    frames,
    lines,
    zones,
    crossings: lines.flatMap(line => countCrossings(line, frames)),
    visits: zones.flatMap(zone => findVisits(zone, frames, scene.fps)),
    near_misses: findNearMisses(frames, scene.fps),
  }
}
