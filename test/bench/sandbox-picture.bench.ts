import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createTestRing } from '../fixtures/media/test-ring.ts'
import type { Bench } from './bench.ts'
import { measureRoundTrips, writeBenchPlugin } from './sandboxed-element.ts'

const size = 640
const warmUpFrames = 1000
const frames = 2000

export const bench: Bench = {
  name: `frame with a picture of ${size}×${size} to a sandboxed element and back`,
  limit: { max: 1 },
  unit: ' ms',

  async run() {
    const view = { format: 'RGB', width: size, height: size }
    const plugin = writeBenchPlugin(view)
    const folder = mkdtempSync('/dev/shm/eyrie-bench-')
    const picture = new Uint8Array(size * size * 3).fill(127)
    const shape = { width: size, height: size, format: 'RGB', payloadSize: picture.length } as const
    const ring = createTestRing(join(folder, 'view.ring'), shape)
    try {
      const element = await plugin.open({ path: ring.path, generation: ring.generation })
      const write = (n: number) => ring.write(n, picture)
      await measureRoundTrips(element, warmUpFrames, write)
      const samples = await measureRoundTrips(element, frames, write)
      element.close?.()
      const p99 = samples.toSorted((a, b) => a - b)[Math.floor(frames * 0.99)]!
      return { samples, loads: [], detail: `${frames} frames of RGB; p99 ${p99.toFixed(3)} ms` }
    } finally {
      ring.close()
      rmSync(folder, { recursive: true, force: true })
      plugin.remove()
    }
  },
}
