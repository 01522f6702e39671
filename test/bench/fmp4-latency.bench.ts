import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { communityLicense } from '@eyrie/contract'
import { startAppliance } from '../fixtures/appliance.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { noteSamples, samplesOf } from '../fixtures/live-samples.ts'
import { numbered, picture } from '../fixtures/numbered-video.ts'
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
      args: ['--source', 'test://ball'],
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

/** A camera that shows numbered pictures, one every 40 ms, encoded without delay. */
async function startNumberedCamera() {
  const { width, height, fps, bits } = numbered
  const script = resolve(import.meta.dirname, '../fixtures/rtsp-camera.py')
  const args = [script, '0', '--stdin', '--size', `${width}x${height}`]
  const child = spawn('/usr/bin/python3', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const handedOver = new Map<number, number>()
  const pictures = Array.from({ length: 2 ** bits }, (_, number) => number)
  let next = 0
  child.stdin.on('error', () => {})
  // Nothing is taken before somebody watches: a picture that would wait is not handed over.
  const timer = setInterval(() => {
    if (child.stdin.writableLength > 0) return
    const number = pictures[next++ % pictures.length]!
    const bytes = picture(number)
    handedOver.set(number, performance.timeOrigin + performance.now())
    child.stdin.write(bytes)
  }, 1000 / fps)
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return {
    url: String(url),
    handedOverAt: (number: number) => handedOver.get(number) ?? Number.NaN,
    async stop() {
      clearInterval(timer)
      child.kill('SIGKILL')
      await exited
    },
  }
}
