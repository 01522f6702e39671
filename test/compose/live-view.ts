import assert from 'node:assert/strict'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { openWhepPage } from '../fixtures/browser/whep-page.ts'
import type { Console } from './console.ts'
import type { Stack } from './stack.ts'
import { waitUntil } from './wait-until.ts'

const MIN_FRAMES = 100

/**
 * Plays a live view in a browser: offered through the console, and sent by the WebRTC worker
 * through its published port.
 */
export async function playLiveView(stack: Stack, console: Console): Promise<string> {
  const stream = await waitUntil('running stream', async () => {
    const [running] = (await console.listChannels()).filter(({ fps }) => fps > 0)
    assert(running?.stream)
    return running.stream
  })
  const browser = await openBrowser()
  try {
    // The page of the console would only run its own scripts.
    const context = await browser.newContext({ bypassCSP: true })
    await context.setExtraHTTPHeaders({ cookie: console.cookie })
    for (const protocol of ['udp', 'tcp'] as const) {
      const viewer = await openWhepPage(context, stack.url, `/live/streams/${stream}/whep`, {
        protocol,
      })
      assert.match(viewer.answer.sdp!, candidate(protocol, stack.variables.EYRIE_WEBRTC_PORT!))
      await waitUntil(`frames by WebRTC over ${protocol}`, async () => {
        const { length } = await viewer.getShownFrames()
        assert(length > MIN_FRAMES, `${length} frames, ${await viewer.connectionState()}`)
      })
      await viewer.page.close()
    }
    return `more than ${MIN_FRAMES} frames by UDP, and by TCP`
  } finally {
    await browser.close()
  }
}

const candidate = (protocol: string, port: string) =>
  new RegExp(`^a=candidate:\\S+ 1 ${protocol} \\d+ 127\\.0\\.0\\.1 ${port} `, 'm')
