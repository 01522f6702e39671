import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Element, Frame } from '@eyrie/element'
import type { RingLocation } from '../../services/engine/frames/ring-reader.ts'
import { fillCompileCache } from '../../services/engine/plugin-host/sandbox/process-policy.ts'
import { openSandboxedElement } from '../../services/engine/plugin-host/sandbox/sandboxed-element.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'

const ignore = () => {}

/** An uploaded plugin on disk, whose element counts the objects of a frame. */
export interface BenchPlugin {
  /** Starts a process and opens the element. */
  open(ring?: RingLocation): Promise<Element>
  /** Stores compiled code, as the engine does when it has started its first process. */
  fillCache(): Promise<void>
  remove(): void
}

/** Writes the plugin. With `view`, its element reads pictures. */
export function writeBenchPlugin(view?: object): BenchPlugin {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-plugin-'))
  writePlugin(folder, {
    // As every element does that uses the SDK.
    module: `import { z } from '@eyrie/element'\nconst args = z.strictObject({})`,
    open: `
      args.parse(setup.args)
      let total = 0
      return {
        view: ${JSON.stringify(view)},
        process: (frame: any) => ({ counters: { seen: { total: (total += frame.objects.length) } } }),
      }`,
  })
  const cacheFolder = join(folder, '.compiled')
  let isFilled = false
  return {
    fillCache: async () => {
      await fillCompileCache(cacheFolder)
      isFilled = true
    },
    open: ring =>
      openSandboxedElement({
        source: {
          entry: join(folder, 'probe/element.ts'),
          name: 'probe',
          setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
        },
        cacheFolder: isFilled ? cacheFolder : undefined,
        needsPixels: view !== undefined,
        findRing: () => ring,
        checkIsolation: ignore,
        onCost: ignore,
        onCrash: reason => {
          throw new Error(reason)
        },
        logFields: {},
        log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A frame with ten objects, as a detector reports them. */
export const createFrame = (n: number): Frame => ({
  n,
  pts: n * 3000,
  time: n * 33_333,
  discontinuity: false,
  width: 1920,
  height: 1080,
  objects: Array.from({ length: 10 }, (_, track) => ({
    class: 'person',
    score: 0.8125,
    bbox: { x: 0.1, y: 0.25, w: 0.0625, h: 0.125 },
    track: track + 1,
  })),
  lowScoreObjects: [],
  counters: {},
})

/** Processes frames one after another. Returns the time of each in ms. */
export async function measureRoundTrips(
  element: Element,
  count: number,
  prepare: (n: number) => void = ignore,
): Promise<number[]> {
  const times: number[] = []
  for (let n = 1; n <= count; n += 1) {
    prepare(n)
    const frame = createFrame(n)
    const start = performance.now()
    await element.process(frame)
    times.push(performance.now() - start)
  }
  return times
}
