import { setTimeout as wait } from 'node:timers/promises'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { openWhepPage } from '../fixtures/browser/whep-page.ts'
import { startNumberedCamera } from '../fixtures/cameras/numbered-camera.ts'
import { connectControl, createDesiredSource } from '../fixtures/media/control-client.ts'
import { numberedShape } from '../fixtures/media/numbered-video.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { webrtcWorker } from '../fixtures/requirements/webrtc-worker.ts'
import type { Bench } from './bench.ts'

const settleMs = 10_000
const measureMs = 20_000

/**
 * From a raw frame to its callback in the browser: a camera encodes numbered pictures as it
 * receives them, media sends them over WebRTC, and a page without a jitter buffer reads the number
 * back from its video element. Both ends use the same machine's clock.
 */
export const bench: Bench = {
  name: 'median latency from raw frame to browser callback over WebRTC',
  limit: { max: 60 },
  unit: ' ms',

  async run() {
    if (!webrtcWorker) throw new Error("mediasoup's worker is not installed: run `make worker`")
    const camera = await startNumberedCamera()
    const browser = await openBrowser()
    const media = await startMediaProcess({ MEDIASOUP_WORKER_BIN: webrtcWorker })
    try {
      const control = await connectControl(media.url)
      await control.apply(createDesiredSource({ id: 1, type: 'video', url: camera.url }))
      await control.waitForStatus(1, ({ state }) => state === 'running')
      const viewer = await openWhepPage(browser, media.url, '/streams/1/whep')
      await wait(settleMs)
      const settled = (await viewer.getShownFrames()).length
      await wait(measureMs)
      const shown = (await viewer.getShownFrames()).slice(settled)
      control.close()
      const latencies = shown.map(({ at, number }) => at - camera.getSendTime(number))
      const sorted = latencies.toSorted((a, b) => a - b)
      return {
        samples: latencies,
        loads: [
          {
            name: 'share of the frames that were shown',
            min: 0.8,
            actual: shown.length / ((measureMs / 1000) * numberedShape.fps),
          },
        ],
        detail: `${shown.length} frames, p95 ${sorted[Math.floor(sorted.length * 0.95)]?.toFixed(0)} ms`,
      }
    } finally {
      await browser.close()
      await media.stop()
      await camera.stop()
    }
  },
}
