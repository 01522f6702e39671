import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RecordedEvent, type RecordedStream, recordedEventList, recordingList } from '@eyrie/contract'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { engineOf } from '../fixtures/engine-api.ts'
import { noteSamples, samplesOf } from '../fixtures/live-samples.ts'
import { numbered, placeOf, playedNumbers } from '../fixtures/numbered-video.ts'
import { writePlugin } from '../fixtures/plugin.ts'
import { startWatchedAppliance, type WatchedAppliance } from '../fixtures/watched-appliance.ts'

const PATIENCE = { timeout: 120_000, interval: 200 }
const RECORDED_S = 14
const FRAME_MS = 1000 / numbered.fps

/** Rings every four seconds, and says which picture it has seen. */
const bell =
  "return { process: (frame: any) => (frame.n % 100 === 0 ? { events: [{ type: 'bell', class: 'number', bbox: frame.objects[0].bbox }] } : {}) }"

let watched: WatchedAppliance
let recording: RecordedStream
let events: RecordedEvent[]

beforeAll(async () => {
  watched = await startWatchedAppliance(2 ** numbered.bits, {
    plugins: folder => writePlugin(folder, { name: 'bell', open: bell }),
  })
  const { appliance, video } = watched
  await engineOf(appliance).deploy([
    {
      sources: [{ type: 'inf', address: pathToFileURL(video).href, recording: { mode: 'continuous' } }],
      elements: [{ name: 'read-number' }, { name: 'bell' }],
    },
  ])
  const asked = async (path: string) => (await fetch(`${appliance.consoleUrl}/live/recordings${path}`)).json()
  await vi.waitFor(async () => {
    const { streams } = recordingList.parse(await asked(''))
    recording = streams.find(({ ranges }) => ranges.length > 0)!
    events = recordedEventList.parse(await asked(`/${recording.stream}/events`)).events
    const { from, to } = recording.ranges.at(-1)!
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(RECORDED_S * 1000)
    expect(events.length).toBeGreaterThan(2)
  }, PATIENCE)
}, 400_000)
afterAll(() => watched.remove())

/** The page on a moment of the recording, so many seconds after its beginning. */
async function open(seconds: number, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await watched.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const at = new Date(beginMs() + seconds * 1000).toISOString()
  await page.goto(`${watched.appliance.consoleUrl}/recordings/${recording.stream}?at=${at}`)
  await noteSamples(page)
  await shown(page, () => true)
  return page
}

const beginMs = () => Date.parse(recording.ranges[0]!.from)

/** The picture that is to be seen, once it is what is waited for. */
async function shown(page: Page, isIt: (number: number, exact: boolean) => boolean) {
  return vi.waitFor(async () => {
    const sample = (await samplesOf(page)).at(-1)
    expect(sample).toBeDefined()
    expect(isIt(sample!.number, sample!.exact), JSON.stringify(sample)).toBe(true)
    return sample!
  }, PATIENCE)
}

/** ms since 1970. */
const clockOf = async (page: Page) =>
  Date.parse((await page.locator('time.clock').getAttribute('datetime')) ?? '')

describe('the page of recordings', { timeout: 240_000 }, () => {
  it('lays the boxes that were recorded on exactly the pictures that they belong to', async () => {
    const page = await open(2)
    await noteSamples(page)
    await page.getByRole('button', { name: 'Play' }).click()
    const exact = async () => (await samplesOf(page)).filter(sample => sample.exact)
    await vi.waitFor(async () => expect((await exact()).length).toBeGreaterThan(60), PATIENCE)
    const samples = await exact()
    for (const { number, boxes, pts, metadataPts } of samples)
      expect({ number, boxes, pts }).toEqual({
        number,
        pts: metadataPts,
        boxes: { own: true, before: false, after: false },
      })
    const [first] = samples
    for (const { number, pts } of samples)
      expect(number).toBe(first!.number + Math.round((pts - first!.pts) / (90 * FRAME_MS)))
  })

  it('goes on and back by single pictures, also before where it was begun', async () => {
    const page = await open(6.1)
    const { number } = await shown(page, () => true)
    for (const [key, steps] of [
      ['.', [1, 2, 3, 4, 5]],
      [',', [4, 3, 2, 1, 0, -1, -2, -3, -4, -5]],
    ] as const) {
      for (const n of steps) {
        await page.keyboard.press(key)
        const { exact, boxes } = await shown(page, each => each === number + n)
        // On a loaded machine not every picture was analysed.
        if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
      }
    }
  })

  it('shows exactly the picture of an event that is chosen, and the next one', async () => {
    const page = await open(0)
    const placeIn = ({ data }: RecordedEvent) => data.bbox!
    const isOf = (event: RecordedEvent) => (number: number, exact: boolean) =>
      exact && placeOf(number).x === placeIn(event).x
    const [first, second] = events as [RecordedEvent, RecordedEvent]
    await page.getByRole('region', { name: 'Events' }).getByRole('button').first().click()
    const { number } = await shown(page, isOf(first))
    await page.keyboard.press('n')
    expect((await shown(page, isOf(second))).number - number).toBe(100)
    await page.keyboard.press('p')
    await shown(page, each => each === number)
  })

  it('plays from where its timeline is clicked', async () => {
    const page = await open(1)
    const timeline = page.locator('.timeline')
    // The day is shown so near that a pixel is less than a picture.
    for (let n = 0; n < 12; n++) await page.keyboard.press('+')
    const box = (await timeline.boundingBox())!
    const [from, to] = await Promise.all(
      ['data-from', 'data-to'].map(async name => Number(await timeline.getAttribute(name))),
    )
    const wanted = beginMs() + 5000
    await timeline.click({
      position: { x: ((wanted - from!) / (to! - from!)) * box.width, y: box.height / 2 },
    })
    await vi.waitFor(async () => expect(Math.abs((await clockOf(page)) - wanted)).toBeLessThan(200), PATIENCE)
  })

  it('plays faster and slower', async () => {
    const page = await open(0)
    await page.getByLabel('Speed').selectOption('8')
    const before = await clockOf(page)
    await page.keyboard.press('k')
    await vi.waitFor(async () => expect(await clockOf(page)).toBeGreaterThan(before + 6000), PATIENCE)
    expect(await page.evaluate(() => document.querySelector('video')!.playbackRate)).toBe(8)
    await page.keyboard.press('<')
    expect(await page.evaluate(() => document.querySelector('video')!.playbackRate)).toBe(4)
  })

  it('downloads a clip of exactly the pictures from one chosen to another', async () => {
    const page = await open(3)
    const first = (await shown(page, () => true)).number
    await page.keyboard.press('i')
    await page.keyboard.press('ArrowRight')
    const end = (await shown(page, each => each > first + 100)).number
    await page.keyboard.press('o')
    const href = await page.getByRole('link', { name: 'Download' }).getAttribute('href')
    const clip = await fetch(new URL(href!, watched.appliance.consoleUrl))
    const path = join(watched.appliance.data, 'clip.mp4')
    writeFileSync(path, Buffer.from(await clip.arrayBuffer()))
    expect(await playedNumbers(path)).toEqual(Array.from({ length: end - first }, (_, i) => first + i))
  })

  it('tells times by the clocks of its viewer', async () => {
    const page = await open(4, { timezoneId: 'Asia/Kathmandu' })
    const text = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'Asia/Kathmandu' })
    const clock = page.locator('time.clock')
    const at = await clockOf(page)
    expect((await clock.textContent())!.slice(0, 8)).toBe(text.format(at))
  })

  it('says of a day what its clocks do, and that nothing was recorded', async () => {
    const context = await watched.browser.newContext({ timezoneId: 'Europe/Berlin' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${watched.appliance.consoleUrl}/recordings/${recording.stream}?at=2026-03-29T10:00:00Z`)
    await page.getByText('The clocks go forward on this day: it has 23 hours').waitFor()
    await page.getByText('Nothing was recorded on this day').waitFor()
    expect(await page.locator('.timeline .ticks').textContent()).not.toMatch(/02:00/)
  })

  it('fits on a telephone', async () => {
    const page = await open(4, { viewport: { width: 390, height: 844 }, hasTouch: true })
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(true)
    expect(await page.title()).toMatch(/^Recordings of .* – Eyrie$/)
    const event = page.getByRole('region', { name: 'Events' }).getByRole('button').first()
    expect(await event.evaluate(row => row.scrollHeight - row.clientHeight)).toBe(0)
  })

  it('says what is wrong when the appliance is gone', async () => {
    const page = await open(4)
    await watched.appliance.stop()
    await page.getByText('not reachable').first().waitFor({ timeout: 60_000 })
    await page.keyboard.press('Home')
    await page.locator('.stage').getByText('not reachable').waitFor()
  })
})

declare const document: {
  documentElement: { scrollWidth: number }
  querySelector(selector: string): { playbackRate: number } | null
}
