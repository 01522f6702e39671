import { readFile } from 'node:fs/promises'
import { bbox, type DetectedObject, point } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { Frame } from '../frame.ts'
import { createFrame } from './stream.ts'

const outline = z.object({ name: z.string(), coords: z.array(point) })

/** The parts of the ground truth that tests of elements use. */
const truthFile = z.object({
  width: z.int(),
  height: z.int(),
  fps: z.number(),
  frames: z.array(
    z.object({
      n: z.int(),
      objects: z.array(
        z.object({ track: z.int(), class: z.string(), bbox, visibility: z.number() }),
      ),
    }),
  ),
  lines: z.array(outline),
  zones: z.array(outline),
  crossings: z.array(
    z.object({
      line: z.string(),
      frame: z.int(),
      track: z.int(),
      class: z.string(),
      direction: z.enum(['up', 'down']),
    }),
  ),
  visits: z.array(
    z.object({
      zone: z.string(),
      track: z.int(),
      class: z.string(),
      enter_frame: z.int(),
      exit_frame: z.int().nullable(),
      dwell_s: z.number(),
    }),
  ),
})
type TruthFile = z.infer<typeof truthFile>

/**
 * The rendered scene: frames with all objects and their tracks, and what happens in it.
 * Frame numbers start at 0.
 */
export interface SceneTruth extends Omit<TruthFile, 'frames'> {
  frames: Frame[]
}

export interface SceneTruthOptions {
  /**
   * Objects of which a smaller share is visible are omitted, as a detector would not find
   * them. 0.3 by default.
   */
  minVisibility?: number
}

/**
 * Reads the ground truth of a rendered scene, `scene-4.truth.json`, which `node scene/main.ts`
 * writes next to the video.
 */
export async function readSceneTruth(
  path: string,
  { minVisibility = 0.3 }: SceneTruthOptions = {},
): Promise<SceneTruth> {
  const truth = parseAs(truthFile, JSON.parse(await readFile(path, 'utf8')))
  const toObject = ({ class: name, bbox, track }: TruthFile['frames'][number]['objects'][number]) =>
    ({ class: name, score: 1, bbox, track }) satisfies DetectedObject
  const frames = truth.frames.map(
    ({ n, objects }): Frame => ({
      ...createFrame(n, truth),
      objects: objects.filter(({ visibility }) => visibility >= minVisibility).map(toObject),
    }),
  )
  return { ...truth, frames }
}
