// @module-tag long

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type RecordedEvent,
  type RecordedStream,
  recordedEventList,
  recordingList,
} from '@eyrie/contract'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openRecording, readClock, waitForFrame } from '../fixtures/browser/recordings-page.ts'
import { SMALL_WINDOW } from '../fixtures/browser/small-window.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { getNumberBox, numberedShape, readPlayedNumbers } from '../fixtures/media/numbered-video.ts'
import {
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/processes/watched-appliance.ts'

const POLL = { timeout: 120_000, interval: 200 }
const RECORDED_S = 14
const FRAME_MS = 1000 / numberedShape.fps

/** Emits an event with the bounding box of the frame every four seconds. */
const bell =
  "return { process: (frame: any) => (frame.n % 100 === 0 ? { events: [{ type: 'bell', class: 'number', bbox: frame.objects[0].bbox }] } : {}) }"

let watched: WatchedAppliance
let recording: RecordedStream
/** Headers of requests by a browser that may see the recordings. */
let headers: { cookie: string }
let events: RecordedEvent[]

beforeAll(async () => {
  watched = await startWatchedAppliance(2 ** numberedShape.bits, {
    plugins: folder => writePlugin(folder, { name: 'bell', open: bell }),
  })
  const { appliance, video } = watched
  await createEngineClient(appliance).deploy([
    {
      sources: [
        { type: 'inf', address: pathToFileURL(video).href, recording: { mode: 'continuous' } },
      ],
      elements: [{ name: 'read-number' }, { name: 'bell' }],
    },
  ])
  headers = await appliance.localSession()
  const fetchRecordings = async (path: string) =>
    (await fetch(`${appliance.consoleUrl}/live/recordings${path}`, { headers })).json()
  await vi.waitFor(async () => {
    const { streams } = recordingList.parse(await fetchRecordings(''))
    recording = streams.find(({ ranges }) => ranges.length > 0)!
    events = recordedEventList.parse(await fetchRecordings(`/${recording.stream}/events`)).events
    const { from, to } = recording.ranges.at(-1)!
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(RECORDED_S * 1000)
    expect(events.length).toBeGreaterThan(2)
  }, POLL)
}, 400_000)
afterAll(() => watched.remove())

const openAt = (page: Page, atMs: number) =>
  openRecording(page, watched.appliance, { stream: recording.stream, atMs })

/** Opens the page this many seconds after the start of the recording. */
async function openPage(seconds: number, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await watched.browser.newContext({ viewport: SMALL_WINDOW, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await openAt(page, startMs() + seconds * 1000)
  await startSampling(page)
  await waitForFrame(page)
  return page
}

const startMs = () => Date.parse(recording.ranges[0]!.from)

describe('recordings page', { timeout: 240_000 }, () => {
  it('draws recorded boxes over exactly the frames they belong to', async () => {
    const page = await openPage(2)
    await startSampling(page)
    await page.getByRole('button', { name: 'Play' }).click()
    const exact = async () => (await readSamples(page)).filter(sample => sample.exact)
    await vi.waitFor(async () => expect((await exact()).length).toBeGreaterThan(60), POLL)
    const samples = await exact()
    for (const { number, boxes, pts, metadataPts } of samples) {
      expect({ number, boxes, pts }).toEqual({
        number,
        pts: metadataPts,
        boxes: { own: true, before: false, after: false },
      })
    }
    const [first] = samples
    for (const { number, pts } of samples) {
      expect(number).toBe(first!.number + Math.round((pts - first!.pts) / (90 * FRAME_MS)))
    }
  })

  it('steps by single frames, also back beyond the start of playback', async () => {
    const page = await openPage(6.1)
    const { number } = await waitForFrame(page)
    for (const [key, steps] of [
      ['.', [1, 2, 3, 4, 5]],
      [',', [4, 3, 2, 1, 0, -1, -2, -3, -4, -5]],
    ] as const) {
      for (const n of steps) {
        await page.keyboard.press(key)
        const { exact, boxes } = await waitForFrame(page, each => each === number + n)
        // A busy machine does not analyse every frame.
        if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
      }
    }
  })

  it('shows exactly the frame of the selected event and of the next one', async () => {
    const page = await openPage(0)
    const getBox = ({ data }: RecordedEvent) => data.bbox!
    const isFrameOf = (event: RecordedEvent) => (number: number, exact: boolean) =>
      exact && getNumberBox(number).x === getBox(event).x
    const [first, second] = events as [RecordedEvent, RecordedEvent]
    await page.getByRole('region', { name: 'Events' }).getByRole('button').first().click()
    const { number } = await waitForFrame(page, isFrameOf(first))
    await page.keyboard.press('n')
    // A busy machine does not analyse every frame, and may miss one that has an event.
    const distance = Math.round((second.pts - first.pts) / (90 * FRAME_MS))
    expect((await waitForFrame(page, isFrameOf(second))).number - number).toBe(distance)
    await page.keyboard.press('p')
    await waitForFrame(page, each => each === number)
  })

  it('marks the row of the event that was reached last', async () => {
    const page = await openPage(0)
    const rows = page.getByRole('region', { name: 'Events' }).getByRole('button')
    const findMarked = () =>
      rows.evaluateAll(all => all.findIndex(row => row.ariaCurrent === 'true'))
    await rows.first().click()
    await vi.waitFor(async () => expect(await findMarked()).toBe(0), POLL)
    await page.keyboard.press('n')
    await vi.waitFor(async () => expect(await findMarked()).toBe(1), POLL)
  })

  it('seeks to where the timeline is clicked', async () => {
    const page = await openPage(1)
    const timeline = page.locator('.timeline')
    // Zoomed in until a pixel is shorter than a frame.
    for (let n = 0; n < 12; n++) await page.keyboard.press('+')
    const box = (await timeline.boundingBox())!
    const [from, to] = await Promise.all(
      ['data-from', 'data-to'].map(async name => Number(await timeline.getAttribute(name))),
    )
    const targetMs = startMs() + 5000
    await timeline.click({
      position: { x: ((targetMs - from!) / (to! - from!)) * box.width, y: box.height / 2 },
    })
    await vi.waitFor(
      async () => expect(Math.abs((await readClock(page)) - targetMs)).toBeLessThan(200),
      POLL,
    )
  })

  it('changes the playback rate', async () => {
    const page = await openPage(0)
    await page.getByLabel('Speed').selectOption('8')
    const before = await readClock(page)
    await page.keyboard.press('k')
    await vi.waitFor(async () => expect(await readClock(page)).toBeGreaterThan(before + 6000), POLL)
    expect(await page.evaluate(() => document.querySelector('video')!.playbackRate)).toBe(8)
    await page.keyboard.press('<')
    expect(await page.evaluate(() => document.querySelector('video')!.playbackRate)).toBe(4)
  })

  it('downloads a clip with exactly the frames from its start to its end', async () => {
    const page = await openPage(3)
    const first = (await waitForFrame(page)).number
    await page.keyboard.press('i')
    await page.keyboard.press('ArrowRight')
    const end = (await waitForFrame(page, each => each > first + 100)).number
    await page.keyboard.press('o')
    const href = await page.getByRole('link', { name: 'Download' }).getAttribute('href')
    const clip = await fetch(new URL(href!, watched.appliance.consoleUrl), { headers })
    const path = join(watched.appliance.data, 'clip.mp4')
    writeFileSync(path, Buffer.from(await clip.arrayBuffer()))
    expect(await readPlayedNumbers(path)).toEqual(
      Array.from({ length: end - first }, (_, i) => first + i),
    )
  })

  it('keeps the clip and its figures while another day is selected', async () => {
    const page = await openPage(3)
    const first = (await waitForFrame(page)).number
    await page.keyboard.press('i')
    await page.keyboard.press('ArrowRight')
    await waitForFrame(page, each => each > first + 100)
    await page.keyboard.press('o')
    const panel = page.getByRole('region', { name: 'Clip' })
    await panel.getByText(/[45] s, about/).waitFor()

    await page.getByLabel('Day', { exact: true }).fill('2026-03-29')
    await page.getByText('No recordings on this day').waitFor()
    await panel.getByText(/[45] s, about/).waitFor()
    expect(await panel.getByRole('link', { name: 'Download' }).isVisible()).toBe(true)
  })

  it('continues with recordings after those of the selected day', async () => {
    const page = await openPage(4)
    const dayEnd = new Date(startMs() + 8000).toISOString()
    // As if the day ended there: the lists of a day and the loaded recordings have an end.
    await page.route('**/live/recordings?from=*&to=*', async route => {
      const response = await route.fetch()
      const list = recordingList.parse(await response.json())
      for (const { ranges } of list.streams) ranges.splice(1)
      for (const { ranges } of list.streams) if (ranges[0]) ranges[0].to = dayEnd
      await route.fulfill({ response, json: list })
    })
    // Loading ends with the day, until the page asks for what was recorded after it.
    let isCut = true
    await page.route(/\/live\/recordings\?stream=/, route => {
      isCut = false
      return route.continue()
    })
    await page.route(/\/live\/recordings\/\d+\?/, route => {
      const url = new URL(route.request().url())
      if (isCut) url.searchParams.set('to', dayEnd)
      return route.continue({ url: url.href })
    })
    await page.reload()
    await startSampling(page)
    await waitForFrame(page)
    expect(isCut).toBe(true)

    await page.getByRole('button', { name: 'Play' }).click()
    await vi.waitFor(
      async () => expect(await readClock(page)).toBeGreaterThan(startMs() + 10_000),
      POLL,
    )
    expect(isCut).toBe(false)
  })

  it('shows times in the time zone of the browser', async () => {
    const page = await openPage(4, { timezoneId: 'Asia/Kathmandu' })
    const text = new Intl.DateTimeFormat('en-GB', {
      timeStyle: 'medium',
      timeZone: 'Asia/Kathmandu',
    })
    const clock = page.locator('time.clock')
    const at = await readClock(page)
    expect((await clock.textContent())!.slice(0, 8)).toBe(text.format(at))
  })

  it('describes a clock change and a day without recordings', async () => {
    const context = await watched.browser.newContext({ timezoneId: 'Europe/Berlin' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await openAt(page, Date.parse('2026-03-29T10:00:00Z'))
    await page.getByText('Clocks go forward on this day (23 hours)').waitFor()
    await page.getByText('No recordings on this day').waitFor()
    expect(await page.locator('.timeline .ticks').textContent()).not.toMatch(/02:00/)
  })

  it('reports that the events of another day cannot be loaded', async () => {
    const page = await openPage(4)
    const list = page.getByRole('region', { name: 'Events' })
    await list.getByRole('button').first().waitFor()

    await page.route('**/live/recordings/*/events?*', route => route.abort())
    await page.getByLabel('Day', { exact: true }).fill('2026-03-29')
    await list.getByText('unreachable').waitFor()
    expect(await list.getByText('No events').count()).toBe(0)
    expect(await list.getByRole('button').count()).toBe(0)
    await page.getByText('No recordings on this day').waitFor()

    await page.unroute('**/live/recordings/*/events?*')
    await list.getByText('No events').waitFor()
    expect(await list.getByText('unreachable').count()).toBe(0)
  })

  it('continues to list events while they cannot be loaded again', async () => {
    const page = await openPage(4)
    const list = page.getByRole('region', { name: 'Events' })
    await list.getByRole('button').first().waitFor()
    await page.route('**/live/recordings/*/events?*', route => route.abort())
    await list.getByText('unreachable').waitFor()
    expect(await list.getByRole('button').count()).toBeGreaterThan(0)
  })

  it('fits on a phone', async () => {
    const page = await openPage(4, { viewport: { width: 390, height: 844 }, hasTouch: true })
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(true)
    expect(await page.title()).toMatch(/^Recordings of .* – Eyrie$/)
    const event = page.getByRole('region', { name: 'Events' }).getByRole('button').first()
    expect(await event.evaluate(row => row.scrollHeight - row.clientHeight)).toBe(0)
  })

  it('reports that the appliance is unreachable', async () => {
    const page = await openPage(4)
    await watched.appliance.stop()
    await page.getByText('unreachable').first().waitFor({ timeout: 60_000 })
    await page.keyboard.press('Home')
    await page.locator('.stage').getByText('unreachable').waitFor()
  })
})

declare const document: {
  documentElement: { scrollWidth: number }
  querySelector(selector: string): { playbackRate: number } | null
}
