import type { Bench } from './bench.ts'
import { writeBenchPlugin } from './sandboxed-element.ts'

const rounds = 15

export const bench: Bench = {
  name: 'start of a sandboxed process until its element is open',
  limit: { max: 150 },
  unit: ' ms',

  async run() {
    const plugin = writeBenchPlugin()
    const samples: number[] = []
    try {
      await plugin.fillCache()
      // The first start reads the files from the disk.
      for (let round = 0; round <= rounds; round += 1) {
        const start = performance.now()
        const element = await plugin.open()
        if (round > 0) samples.push(performance.now() - start)
        element.close?.()
      }
      return { samples, loads: [], detail: `rounds ${samples.map(ms => ms.toFixed(0)).join(' ')} ms` }
    } finally {
      plugin.remove()
    }
  },
}
