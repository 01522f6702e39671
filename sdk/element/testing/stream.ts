import type { DetectedObject } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Element, ElementContext, ElementDefinition } from './define.ts'
import type { Frame } from './frame.ts'

/** Helpers for the tests of elements: they open an element without an engine and create frames for it. */

const MICROSECONDS_PER_SECOND = 1_000_000

const silentLog = { debug() {}, info() {}, warn() {}, error() {} }

/** Opens an element as a channel does: `args` and `config` are validated and completed by the element's schemas. */
export async function openElement(
  definition: ElementDefinition,
  { args = {}, config, source = { id: 1 }, size, inference }: Partial<ElementContext<unknown, unknown>> = {},
): Promise<Element> {
  return definition.open({
    args: definition.args.parse(args),
    config: config === undefined ? undefined : definition.config?.parse(config),
    source,
    size,
    inference,
    log: silentLog,
  })
}

/** Creates a stream of frames with consecutive timestamps; `width` and `height` are in pixels. */
export function createStream(fps: number, { width = 1280, height = 720 } = {}) {
  let n = 0
  return {
    /** Returns the next frame, after dropping `skip` frames. */
    next(
      objects: DetectedObject[] = [],
      { skip = 0, discontinuity = false, lowScoreObjects = [] as DetectedObject[] } = {},
    ): Frame {
      n += 1 + skip
      const seconds = n / fps
      return {
        n,
        pts: Math.round(seconds * TICKS_PER_SECOND),
        time: Math.round(seconds * MICROSECONDS_PER_SECOND),
        discontinuity,
        width,
        height,
        objects,
        lowScoreObjects,
        counters: {},
      }
    },
  }
}

/**
 * Creates a seeded random number generator (a 32-bit linear congruential generator; normal deviates by Box and Muller).
 * `uniform` is in 0..1, `gauss` has mean 0 and standard deviation 1.
 */
export function createRandom(seed: number) {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const gauss = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  return { uniform, gauss }
}
