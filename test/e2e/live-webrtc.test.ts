import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { collectSamples } from '../fixtures/browser/live-page.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { findChildPid, findServicePid } from '../fixtures/processes/processes.ts'
import { startWatchedAppliance, type WatchedAppliance } from '../fixtures/processes/watched-appliance.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const usesWebRtc = (page: Page) =>
  page
    .locator('.stage video')
    .first()
    .evaluate(video => 'srcObject' in video && video.srcObject !== null)

describe('live page over WebRTC', needs(webrtcWorkerRequirement), () => {
  let watched: WatchedAppliance
  let appliance: Appliance
  let browser: Browser

  beforeAll(async () => {
    watched = await startWatchedAppliance(500, { bFrames: 0 })
    ;({ appliance, browser } = watched)
    await createEngineClient(appliance).deploy([
      {
        sources: [{ type: 'inf', address: pathToFileURL(watched.video).href }],
        elements: [{ name: 'read-number' }],
      },
    ])
  }, 180_000)
  afterAll(() => watched.remove())

  async function openPage(): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    onTestFinished(() => page.close())
    await openConsole(page, appliance)
    return page
  }

  it('draws boxes over exactly the frame they belong to, through 300 frames', async () => {
    const page = await openPage()
    const samples = await collectSamples(page, 300, ({ exact }) => exact)
    expect(await usesWebRtc(page)).toBe(true)

    const exact = samples.filter(({ exact }) => exact)
    expect(new Set(exact.map(({ number }) => number)).size).toBeGreaterThan(50)
    for (const { number, pts, metadataPts, boxes } of exact) {
      expect({ number, boxes }).toEqual({ number, boxes: { own: true, before: false, after: false } })
      expect(metadataPts).toBe(pts)
    }
  }, 180_000)

  it('reconnects over WebRTC after the worker is killed', async () => {
    const page = await openPage()
    await collectSamples(page, 10, ({ exact }) => exact)
    const media = findServicePid(appliance.data, 'media')
    const worker = findChildPid(media, 'mediasoup-worker')
    process.kill(worker, 'SIGKILL')
    // From here on, WebRTC works only with another worker.
    await vi.waitFor(() => expect(findChildPid(media, 'mediasoup-worker')).not.toBe(worker), {
      timeout: 60_000,
    })

    const samples = await collectSamples(page, 20, ({ exact }) => exact)
    expect(await usesWebRtc(page)).toBe(true)
    for (const { exact, boxes } of samples) {
      if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
    }
  }, 180_000)

  it('falls back to fragmented MP4 for a stream with B-frames', async () => {
    const video = join(appliance.data, 'media/reordered.mp4')
    await writeNumberedVideo(video, 200, { bFrames: 2 })
    await createEngineClient(appliance).deploy([
      { sources: [{ type: 'inf', address: pathToFileURL(video).href }], elements: [{ name: 'read-number' }] },
    ])
    const page = await openPage()
    await collectSamples(page, 20, ({ exact }) => exact)
    expect(await usesWebRtc(page)).toBe(false)
  }, 180_000)
})

describe('live page without a WebRTC worker', () => {
  it('plays fragmented MP4', async () => {
    const appliance = await startAppliance({
      source: SMALL_PICTURE,
      environment: { MEDIASOUP_WORKER_BIN: '/nowhere/mediasoup-worker' },
    })
    onTestFinished(appliance.remove)
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    await appliance.waitForLine(/ready: open/)
    const page = await browser.newPage()
    await openConsole(page, appliance)
    const boxes = page.locator('.stage canvas.boxes[data-frames]')
    const frames = async () => Number(await boxes.getAttribute('data-frames'))
    await expect.poll(frames, { timeout: 60_000 }).toBeGreaterThan(20)
    expect(await usesWebRtc(page)).toBe(false)
  }, 180_000)
})
