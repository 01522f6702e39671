// @module-tag long

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RecordedStream, recordingList } from '@eyrie/contract'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { openRecording, readClock, waitForFrame } from '../fixtures/browser/recordings-page.ts'
import { SMALL_WINDOW } from '../fixtures/browser/small-window.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { numberedShape } from '../fixtures/media/numbered-video.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import {
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/processes/watched-appliance.ts'

const POLL = { timeout: 120_000, interval: 200 }
/** Much more than the console loads at once, which is 20 seconds. */
const RECORDED_S = 45
const FRAME_TICKS = 90_000 / numberedShape.fps

let watched: WatchedAppliance
/** Headers of requests by a browser that may see the recordings. */
let headers: { cookie: string }
/** Shows numbers, which are analysed. */
let numbers: RecordedStream
/** Takes more space than a browser reads ahead. */
let noise: RecordedStream

beforeAll(async () => {
  watched = await startWatchedAppliance(2 ** numberedShape.bits)
  const { appliance, video } = watched
  const noiseVideo = join(appliance.data, 'media/noise.mp4')
  makeVideo(noiseVideo, { pattern: 'snow', frames: 300, fps: 15 })
  const record = (path: string) => ({
    type: 'inf' as const,
    address: pathToFileURL(path).href,
    recording: { mode: 'continuous' as const },
  })
  const engine = createEngineClient(appliance)
  await engine.deploy([{ sources: [record(video)], elements: [{ name: 'read-number' }] }])
  await engine.source.create(record(noiseVideo))
  headers = await appliance.localSession()
  await vi.waitFor(async () => {
    const recorded = (await fetchRecordings()).filter(({ ranges }) => ranges.length > 0)
    expect(recorded.map(getRecordedS)).toEqual([expect.any(Number), expect.any(Number)])
    for (const stream of recorded) expect(getRecordedS(stream)).toBeGreaterThan(RECORDED_S)
    ;[numbers, noise] = recorded as [RecordedStream, RecordedStream]
  }, POLL)
}, 400_000)
afterAll(() => watched.remove())

async function fetchRecordings(): Promise<RecordedStream[]> {
  const response = await fetch(`${watched.appliance.consoleUrl}/live/recordings`, { headers })
  return recordingList.parse(await response.json()).streams
}

const waitUntilRecorded = (id: number, timeMs: number) =>
  vi.waitFor(async () => {
    const recorded = (await fetchRecordings()).find(({ stream }) => stream === id)
    expect(Date.parse(recorded!.last!)).toBeGreaterThan(timeMs)
  }, POLL)

const startMs = ({ ranges }: RecordedStream) => Date.parse(ranges[0]!.from)
const endMs = ({ ranges }: RecordedStream) => Date.parse(ranges[0]!.to)
const getRecordedS = (stream: RecordedStream) => (endMs(stream) - startMs(stream)) / 1000

async function openContext(): Promise<BrowserContext> {
  const context = await watched.browser.newContext({ viewport: SMALL_WINDOW })
  onTestFinished(() => context.close())
  return context
}

/** Opens the recording of the numbers at a time, and waits for its frame. */
async function openNumbers(atMs: number): Promise<Page> {
  const page = await (await openContext()).newPage()
  await openRecording(page, watched.appliance, { stream: numbers.stream, atMs })
  await startSampling(page)
  await waitForFrame(page)
  return page
}

const play = (page: Page) => page.getByRole('button', { name: 'Play' }).click()

/** Identifies the media source, which is replaced by another one at a visible seam. */
const readMediaSource = (page: Page) => page.evaluate(() => document.querySelector('video')!.src)

/** Reads how much video is loaded after the frame on display, up to the first gap. */
const readAheadS = (page: Page) =>
  page.evaluate(() => {
    const { buffered, currentTime } = document.querySelector('video')!
    return buffered.end(0) - currentTime
  })

/** Waits until the page shows a frame that was recorded after this time. */
const waitUntilPlayed = (page: Page, timeMs: number) =>
  vi.waitFor(async () => expect(await readClock(page)).toBeGreaterThan(timeMs), POLL)

/** Runs in the page: counts the responses with video or metadata that are not read to their end. */
function countOpenResponses() {
  const { fetch } = globalThis
  globalThis.openResponses = 0
  globalThis.fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (!/recordings\/\d+(\/metadata)?\?/.test(String(url))) return response
    globalThis.openResponses += 1
    const flush = () => {
      globalThis.openResponses -= 1
    }
    return new Response(response.body!.pipeThrough(new TransformStream({ flush })), response)
  }
}

describe('playback of a recording', { timeout: 300_000 }, () => {
  it('leaves connections for another page while six tabs play', async () => {
    const context = await openContext()
    await context.addInitScript(countOpenResponses)
    const atMs = startMs(noise)
    for (let tab = 0; tab < 6; tab++) {
      const page = await context.newPage()
      await openRecording(page, watched.appliance, { stream: noise.stream, atMs })
      await play(page)
      await waitUntilPlayed(page, atMs + 1000)
      const countOpen = () => page.evaluate(() => globalThis.openResponses)
      await vi.waitFor(async () => expect(await countOpen()).toBe(0), POLL)
    }

    const page = await context.newPage()
    await openConsole(page, watched.appliance)
    await page.locator('.stage canvas').first().waitFor()
    expect(await page.title()).toMatch(/Eyrie$/)
  })

  it('shows each frame once where two parts were joined', async () => {
    const page = await openNumbers(startMs(numbers) + 2000)
    const { number } = await waitForFrame(page)
    const mediaSource = await readMediaSource(page)
    // To where the first part ends, which is 20 seconds long.
    for (const seconds of [5, 10, 15, 20]) {
      await vi.waitFor(async () => expect(await readAheadS(page)).toBeGreaterThan(6), POLL)
      await page.keyboard.press('ArrowRight')
      await waitForFrame(page, each => each === number + seconds * numberedShape.fps)
    }

    const shown = [await waitForFrame(page)]
    while (shown.length < 40) {
      await page.keyboard.press(',')
      const previous = shown.at(-1)!
      shown.push(
        await waitForFrame(page, each => each === previous.number - 1, { ...POLL, interval: 20 }),
      )
      expect(previous.pts - shown.at(-1)!.pts).toBe(FRAME_TICKS)
    }

    await startSampling(page)
    await play(page)
    const lastNumber = number + 22 * numberedShape.fps
    await waitForFrame(page, (each, exact) => exact && each > lastNumber)
    const played = await readSamples(page)
    const [first] = played
    for (const { number: each, pts, exact, boxes } of played) {
      expect(each).toBe(first!.number + (pts - first!.pts) / FRAME_TICKS)
      // A busy machine does not analyse every frame.
      if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
    }
    expect(await readMediaSource(page)).toBe(mediaSource)
  })

  it('follows a growing recording without loading it again', async () => {
    const atMs = endMs(numbers) - 12_000
    const page = await openNumbers(atMs)
    const mediaSource = await readMediaSource(page)
    await play(page)
    await waitUntilPlayed(page, atMs + 30_000)
    expect(await readMediaSource(page)).toBe(mediaSource)
  })

  it('continues where the parameters of the encoder and the size of the picture change', async () => {
    const { appliance } = watched
    const engine = createEngineClient(appliance)
    const atMs = Date.now() - 3000
    for (const shape of [{ fps: 16 }, { width: 480, height: 360 }]) {
      const path = join(appliance.data, `media/noise-${shape.fps ?? 'large'}.mp4`)
      makeVideo(path, { pattern: 'snow', frames: 300, fps: 15, ...shape })
      await engine.source.modify(noise.stream, { address: pathToFileURL(path).href })
      await waitUntilRecorded(noise.stream, Date.now() + 5000)
    }

    const page = await (await openContext()).newPage()
    await openRecording(page, appliance, { stream: noise.stream, atMs })
    await play(page)
    const readWidth = () => page.evaluate(() => document.querySelector('video')!.videoWidth)
    await vi.waitFor(async () => expect(await readWidth()).toBe(480), POLL)
    await waitUntilPlayed(page, (await readClock(page)) + 1000)
  })

  it('plays on when the appliance is unreachable for a few seconds', async () => {
    const atMs = startMs(numbers)
    const page = await openNumbers(atMs)
    const mediaSource = await readMediaSource(page)
    let failures = 0
    await page.route(/recordings\/\d+(\/metadata)?\?/, route => {
      failures += 1
      return failures <= 3 ? route.abort() : route.continue()
    })
    await page.getByLabel('Speed').selectOption('4')
    await play(page)
    await waitUntilPlayed(page, atMs + 25_000)
    expect(failures).toBeGreaterThan(3)
    expect(await readMediaSource(page)).toBe(mediaSource)
  })

  it('stops with the reason when access ends', async () => {
    const page = await openNumbers(startMs(numbers))
    const reason = 'this user has no access to the stream'
    await page.route(/recordings\/\d+(\/metadata)?\?/, route =>
      route.fulfill({ status: 403, json: { reason } }),
    )
    await page.getByLabel('Speed').selectOption('4')
    await play(page)
    await page.locator('.stage').getByText('This user has no access').waitFor()
    expect(await page.evaluate(() => document.querySelector('video')!.paused)).toBe(true)
  })
})

declare global {
  var openResponses: number
}
declare const document: {
  querySelector(selector: string): {
    src: string
    videoWidth: number
    paused: boolean
    currentTime: number
    buffered: { end(index: number): number }
  } | null
}
