import type { Bench } from './bench.ts'
import { measureStarts, writeBenchPlugin } from './sandboxed-element.ts'

export const bench: Bench = {
  name: 'start of a sandboxed process until its element is open',
  limit: { max: 150 },
  unit: ' ms',

  async run() {
    const plugin = writeBenchPlugin()
    await plugin.storeCode()
    return measureStarts(plugin)
  },
}
