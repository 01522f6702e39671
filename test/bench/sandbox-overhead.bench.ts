import { setTimeout as wait } from 'node:timers/promises'
import type { Element } from '@eyrie/element'
import type { Bench } from './bench.ts'
import { treeCpu } from './cpu.ts'
import { createFrame, writeBenchPlugin } from './sandboxed-element.ts'

const channels = 16
const rate = 30
const rounds = 5
const roundSeconds = 5
const warmUpMs = 30_000

export const bench: Bench = {
  name: `CPU of ${channels} channels at ${rate} frames/s through sandboxed elements that do nothing`,
  limit: { max: 33 },
  unit: ' % of a core',

  async run() {
    const plugin = writeBenchPlugin()
    const elements = await Promise.all(Array.from({ length: channels }, () => plugin.open()))
    let processed = 0
    const countFrame = () => {
      processed += 1
    }
    const feeding = new AbortController()
    try {
      const feeds = elements.map(element => feed(element, feeding.signal, countFrame))
      await wait(warmUpMs)
      const busy: number[] = []
      const processedBefore = processed
      for (let round = 0; round < rounds; round += 1) {
        const before = treeCpu(process.pid)
        await wait(roundSeconds * 1000)
        busy.push(((treeCpu(process.pid) - before) / roundSeconds) * 100)
      }
      const actual = (processed - processedBefore) / (rounds * roundSeconds)
      feeding.abort()
      await Promise.all(feeds)
      return {
        samples: busy,
        loads: [{ name: 'frames/s processed', min: 0.95 * channels * rate, actual }],
        detail: `rounds ${busy.map(share => share.toFixed(1)).join(' ')} %; ${actual.toFixed(0)} frames/s processed`,
      }
    } finally {
      for (const element of elements) element.close?.()
      plugin.remove()
    }
  },
}

/** Sends frames at the rate of a camera, without waiting longer after a slow one. */
async function feed(element: Element, signal: AbortSignal, onProcessed: () => void): Promise<void> {
  const start = performance.now()
  for (let n = 1; !signal.aborted; n += 1) {
    await element.process(createFrame(n))
    onProcessed()
    await wait(Math.max(0, start + (n * 1000) / rate - performance.now()))
  }
}
