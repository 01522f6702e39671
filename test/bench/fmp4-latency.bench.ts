import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { communityLicense } from '@eyrie/contract'
import { startAppliance } from '../fixtures/appliance.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { noteSamples, samplesOf } from '../fixtures/live-samples.ts'
import { startNumberedCamera } from '../fixtures/numbered-camera.ts'
import { type Bench, median } from './bench.ts'

const settleMs = 15_000
const measureMs = 20_000
const plugins = ['../../plugins', '../fixtures/plugins']
  .map(each => join(import.meta.dirname, each))
  .join(':')

/**
 * From a raw frame to its callback in the browser, with what was found in it: a camera encodes numbered pictures as they are
 * handed to it, media passes them on by fragmented MP4, every one is analysed, and the live page reads the number
 * out of what it has just painted. Both ends read the same machine's clock.
 */
export const bench: Bench = {
  name: 'raw frame to browser callback over fragmented MP4, p50',
  limit: { atMost: 150 },
  unit: ' ms',

  async run() {
    const camera = await startNumberedCamera()
    const browser = await openBrowser()
    const appliance = await startAppliance({
      source: 'test://ball',
      environment: { EYRIE_PLUGINS: plugins },
    })
    try {
      await appliance.printed(/ready: open/)
      const engine = createClient({ url: appliance.engineUrl, token: appliance.token })
      await engine.activate(communityLicense)
      await engine.deploy([
        { sources: [{ type: 'video', address: camera.url }], elements: [{ name: 'read-number' }] },
      ])
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      await page.addInitScript('delete globalThis.RTCPeerConnection')
      await page.goto(appliance.consoleUrl)
      await page.locator('.stage canvas.boxes[data-pts]').waitFor({ state: 'attached' })
      await wait(settleMs)
      await noteSamples(page)
      await wait(measureMs)

      const firstOf = new Map((await samplesOf(page)).reverse().map(sample => [sample.frames, sample]))
      const samples = [...firstOf.values()]
      const latencies = samples.map(({ at, number }) => at - camera.handedOverAt(number))
      const sorted = latencies.toSorted((a, b) => a - b)
      const share = samples.filter(({ exact }) => exact).length / samples.length
      return {
        value: median(latencies),
        detail: `${samples.length} frames, p95 ${sorted[Math.floor(sorted.length * 0.95)]?.toFixed(0)} ms; ${(share * 100).toFixed(0)} % were painted with their own boxes at once`,
      }
    } finally {
      await browser.close()
      await appliance.remove()
      await camera.stop()
    }
  },
}
