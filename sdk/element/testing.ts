import type { DetectedObject } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Element, ElementDefinition, Setup } from './define.ts'
import type { Frame } from './frame.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Opens an element as a channel would: args and config checked and completed by its schemas. */
export async function openElement(
  definition: ElementDefinition,
  { args = {}, config, source = { id: 1 }, size, inference }: Partial<Setup<unknown, unknown>> = {},
): Promise<Element> {
  return definition.open({
    args: definition.args.parse(args),
    config: config === undefined ? undefined : definition.config?.parse(config),
    source,
    size,
    inference,
    log: silent,
  })
}

/** Makes the frames of a stream, one after the other; its picture has a size in pixels. */
export function createStream(fps: number, { width = 1280, height = 720 } = {}) {
  let n = 0
  return {
    /** The next frame; `skip` frames before it are dropped. */
    next(objects: DetectedObject[] = [], { skip = 0, discontinuity = false } = {}): Frame {
      n += 1 + skip
      const seconds = n / fps
      return {
        n,
        pts: Math.round(seconds * TICKS_PER_SECOND),
        time: Math.round(seconds * 1_000_000),
        discontinuity,
        width,
        height,
        objects,
        counters: {},
      }
    },
  }
}

/** Random numbers that are the same for a seed: uniform in 0..1, and gaussian of mean 0 and deviation 1. */
export function createRandom(seed: number) {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const gauss = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  return { uniform, gauss }
}
