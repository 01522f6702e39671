import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Element, Frame } from '@eyrie/element'
import type { RingLocation } from '../../services/engine/frames/ring-reader.ts'
import { storeCompiledCode } from '../../services/engine/plugin-host/sandbox/compiled-code.ts'
import { openSandboxedElement } from '../../services/engine/plugin-host/sandbox/sandboxed-element.ts'
import { writePythonPlugin } from '../fixtures/engine/python-plugin.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { createTestRing } from '../fixtures/media/test-ring.ts'
import type { Measurement } from './bench.ts'
import { processCpu, processTree } from './cpu.ts'

const ignore = () => {}

/** An uploaded plugin on disk, whose element counts the objects of a frame. */
export interface BenchPlugin {
  /** Starts a process and opens the element. */
  open(ring?: RingLocation): Promise<Element>
  /** Stores compiled code, as the engine does when it has started the first process of a plugin. */
  storeCode(): Promise<void>
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
  return createBenchPlugin(folder, 'element.ts', view !== undefined)
}

/** Writes an equal plugin in Python. */
export function writePythonBenchPlugin(view?: string): BenchPlugin {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-plugin-'))
  const code = `
from eyrie_element import Element, ElementDefinition, NoArgs, Result, View

class Probe(Element):
    view = ${view ?? 'None'}

    def __init__(self, context):
        self.total = 0

    def process(self, frame):
        self.total += len(frame.objects)
        return Result(counters={'seen': {'total': self.total}})

elements = {'probe': ElementDefinition(Probe, args=NoArgs)}
`
  writePythonPlugin(folder, { code })
  return createBenchPlugin(folder, 'element.py', view !== undefined)
}

function createBenchPlugin(folder: string, entry: string, needsPixels: boolean): BenchPlugin {
  const path = join(folder, 'probe', entry)
  let codeFolder: string | undefined
  return {
    storeCode: async () => {
      codeFolder = join(folder, '.compiled')
      await storeCompiledCode(codeFolder, path)
    },
    open: ring =>
      openSandboxedElement({
        source: {
          entry: path,
          name: 'probe',
          setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
        },
        codeFolder,
        needsPixels,
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

/** Measures frames without a picture, after a warm-up. */
export async function measureObjects(plugin: BenchPlugin): Promise<Measurement> {
  const frames = 3000
  try {
    const element = await plugin.open()
    await measureRoundTrips(element, frames)
    const samples = await measureRoundTrips(element, frames)
    element.close?.()
    return {
      samples,
      loads: [],
      detail: `${frames} frames with 10 objects; p99 ${findP99(samples).toFixed(3)} ms`,
    }
  } finally {
    plugin.remove()
  }
}

/** Measures frames with a square picture, after a warm-up. `size` is in pixels. */
export async function measurePictures(plugin: BenchPlugin, size: number): Promise<Measurement> {
  const folder = mkdtempSync('/dev/shm/eyrie-bench-')
  const picture = new Uint8Array(size * size * 3).fill(127)
  const shape = { width: size, height: size, format: 'RGB', payloadSize: picture.length } as const
  const ring = createTestRing(join(folder, 'view.ring'), shape)
  const frames = 2000
  try {
    const element = await plugin.open({ path: ring.path, generation: ring.generation })
    const write = (n: number) => ring.write(n, picture)
    await measureRoundTrips(element, frames / 2, write)
    const samples = await measureRoundTrips(element, frames, write)
    element.close?.()
    return {
      samples,
      loads: [],
      detail: `${frames} frames of RGB; p99 ${findP99(samples).toFixed(3)} ms`,
    }
  } finally {
    ring.close()
    rmSync(folder, { recursive: true, force: true })
    plugin.remove()
  }
}

const findP99 = (samples: readonly number[]) =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * 0.99)]!

/**
 * Measures the time from the start of the process until the element is open, and how
 * much of it is CPU time.
 */
export async function measureStarts(plugin: BenchPlugin): Promise<Measurement> {
  const rounds = 15
  const samples: number[] = []
  let cpuMs = 0
  try {
    // The first start reads the files from the disk.
    for (let round = 0; round <= rounds; round += 1) {
      const start = performance.now()
      const element = await plugin.open()
      if (round > 0) {
        samples.push(performance.now() - start)
        // The processes of earlier rounds may not have ended yet.
        cpuMs += (processCpu(processTree(process.pid).at(-1)!) * 1000) / rounds
      }
      element.close?.()
    }
    return {
      samples,
      loads: [],
      detail: `rounds ${samples.map(ms => ms.toFixed(0)).join(' ')} ms; ${cpuMs.toFixed(0)} ms of CPU time on average`,
    }
  } finally {
    plugin.remove()
  }
}
