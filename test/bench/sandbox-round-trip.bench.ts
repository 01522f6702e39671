import type { Bench } from './bench.ts'
import { measureRoundTrips, writeBenchPlugin } from './sandboxed-element.ts'

const warmUpFrames = 3000
const frames = 3000

export const bench: Bench = {
  name: 'frame without a picture to a sandboxed element and back',
  limit: { max: 0.3 },
  unit: ' ms',

  async run() {
    const plugin = writeBenchPlugin()
    try {
      const element = await plugin.open()
      await measureRoundTrips(element, warmUpFrames)
      const samples = await measureRoundTrips(element, frames)
      element.close?.()
      const p99 = samples.toSorted((a, b) => a - b)[Math.floor(frames * 0.99)]!
      return { samples, loads: [], detail: `${frames} frames with 10 objects; p99 ${p99.toFixed(3)} ms` }
    } finally {
      plugin.remove()
    }
  },
}
