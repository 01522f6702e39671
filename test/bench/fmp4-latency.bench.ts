import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { startNumberedCamera } from '../fixtures/cameras/numbered-camera.ts'
import { numberedShape } from '../fixtures/media/numbered-video.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import type { Bench } from './bench.ts'

const settleMs = 15_000
const measureMs = 20_000
const plugins = ['../../plugins', '../fixtures/plugins']
  .map(each => join(import.meta.dirname, each))
  .join(':')

/**
 * From a raw frame to its callback in the browser, with its boxes: a camera encodes numbered
 * pictures as it receives them, media sends them as fragmented MP4, the engine analyses every one,
 * and the live page reads the number back from its canvas. Both ends use the same machine's clock.
 */
export const bench: Bench = {
  name: 'median latency from raw frame to browser callback over fragmented MP4',
  limit: { max: 150 },
  unit: ' ms',

  async run() {
    const camera = await startNumberedCamera()
    const browser = await openBrowser()
    const appliance = await startAppliance({
      source: 'test://ball',
      environment: { EYRIE_PLUGINS: plugins },
    })
    try {
      await appliance.waitForLine(/ready: open/)
      const engine = createClient({ url: appliance.engineUrl, token: appliance.token })
      await engine.activate(COMMUNITY_LICENSE)
      await engine.deploy([
        { sources: [{ type: 'video', address: camera.url }], elements: [{ name: 'read-number' }] },
      ])
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      await page.addInitScript('delete globalThis.RTCPeerConnection')
      await openConsole(page, appliance)
      await page.locator('.stage canvas.boxes[data-pts]').waitFor({ state: 'attached' })
      await wait(settleMs)
      await startSampling(page)
      await wait(measureMs)

      const firstOf = new Map(
        (await readSamples(page)).reverse().map(sample => [sample.frames, sample]),
      )
      const samples = [...firstOf.values()]
      const latencies = samples.map(({ at, number }) => at - camera.getSendTime(number))
      const painted = samples.length / ((measureMs / 1000) * numberedShape.fps)
      const sorted = latencies.toSorted((a, b) => a - b)
      const share = samples.filter(({ exact }) => exact).length / samples.length
      return {
        samples: latencies,
        loads: [{ name: 'share of the frames that were painted', min: 0.8, actual: painted }],
        detail: `${samples.length} frames, p95 ${sorted[Math.floor(sorted.length * 0.95)]?.toFixed(0)} ms; ${(share * 100).toFixed(0)} % were painted with their own boxes at once`,
      }
    } finally {
      await browser.close()
      await appliance.remove()
      await camera.stop()
    }
  },
}
