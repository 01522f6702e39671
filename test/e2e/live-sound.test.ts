import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { communityLicense } from '@eyrie/contract'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { engineOf } from '../fixtures/engine-api.ts'
import { samplesUntil } from '../fixtures/live-page.ts'
import { noteSamples, samplesOf } from '../fixtures/live-samples.ts'
import { writeNumberedVideo } from '../fixtures/numbered-video.ts'
import { childOf, servicePid } from '../fixtures/processes.ts'
import { startRtspCamera } from '../fixtures/rtsp-camera.ts'
import { readingPlugins } from '../fixtures/watched-appliance.ts'
import { webrtcWorker, whyNoWorker } from '../fixtures/webrtc-worker.ts'

const SECOND = 90_000
const TONE_HZ = 1_000
const PATIENCE = { timeout: 60_000, interval: 250 }

describe.runIf(webrtcWorker)(`the sound of the live page${whyNoWorker}`, () => {
  let data: string
  let appliance: Appliance
  let browser: Browser
  let worker: string
  const fileOf = (name: string) => join(data, 'media', name)

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'eyrie-sound-'))
    worker = join(data, 'mediasoup-worker')
    symlinkSync(webrtcWorker!, worker)
    browser = await openBrowser()
    appliance = await startAppliance({
      source: 'test://ball',
      environment: { EYRIE_DATA: data, EYRIE_PLUGINS: readingPlugins, MEDIASOUP_WORKER_BIN: worker },
    })
    await appliance.printed(/ready: open/)
    await engineOf(appliance).activate(communityLicense)
    mkdirSync(dirname(fileOf('x')), { recursive: true })
    await writeNumberedVideo(fileOf('silent.mp4'), 500, { bFrames: 0 })
    const tone = [
      '-f',
      'lavfi',
      '-i',
      `sine=frequency=${TONE_HZ}`,
      '-shortest',
      '-c:v',
      'copy',
      '-c:a',
      'aac',
    ]
    execFileSync('ffmpeg', ['-v', 'error', '-i', fileOf('silent.mp4'), ...tone, fileOf('tone.mp4')])
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await appliance.remove()
    rmSync(data, { recursive: true, force: true })
  })

  /** Makes this the appliance's only source and opens the page on it. */
  async function openPage(address: string, script = ''): Promise<Page> {
    const isCamera = address.startsWith('rtsp:')
    await engineOf(appliance).deploy([
      {
        sources: [{ type: isCamera ? 'video' : 'inf', address }],
        elements: [{ name: isCamera ? 'motion' : 'read-number' }],
      },
    ])
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    onTestFinished(() => page.close())
    if (script) await page.addInitScript(script)
    await page.goto(appliance.consoleUrl)
    return page
  }

  const withoutWebRtc = 'delete globalThis.RTCPeerConnection'
  const tone = () => pathToFileURL(fileOf('tone.mp4')).href
  const button = (page: Page) => page.getByRole('button', { name: 'Sound' })

  /** Threads of media that hand sound on or encode it, by what they make. */
  function sounding(): string[] {
    const media = servicePid(data, 'media')
    const names = readdirSync(`/proc/${media}/task`).map(id => {
      try {
        return readFileSync(`/proc/${media}/task/${id}/comm`, 'utf8').trim()
      } catch {
        return ''
      }
    })
    return names.filter(name => name.startsWith('aux-sound'))
  }

  async function turnOn(page: Page) {
    await button(page).click()
    await expect.poll(() => button(page).getAttribute('aria-busy'), PATIENCE).toBe('false')
  }

  /** The loudest frequency of what the page plays, in Hz; 0 while it is silent. */
  const heardHz = (page: Page) =>
    page.evaluate(async () => {
      const scope = globalThis as unknown as Listening
      const video = scope.document.querySelector('.stage video')
      if (!video || video.muted) return 0
      const context = new scope.AudioContext()
      const analyser = new scope.AnalyserNode(context, { fftSize: 4096 })
      context.createMediaStreamSource(video.captureStream()).connect(analyser)
      await new Promise(resolve => setTimeout(resolve, 500))
      const bins = new Uint8Array(analyser.frequencyBinCount)
      analyser.getByteFrequencyData(bins)
      const loudest = bins.indexOf(Math.max(...bins))
      const hz = bins[loudest]! > 100 ? (loudest * context.sampleRate) / analyser.fftSize : 0
      await context.close()
      return hz
    })

  const hearsTone = (page: Page) =>
    expect.poll(async () => Math.abs((await heardHz(page)) - TONE_HZ), PATIENCE).toBeLessThan(30)

  it.each([
    ['WebRTC', '', 'aux-sound-opus'],
    ['fragmented MP4', withoutWebRtc, 'aux-sound-aac'],
  ])(
    'comes by %s when it is turned on, and costs nothing before and after',
    async (_, script, thread) => {
      const page = await openPage(tone(), script)
      await samplesUntil(page, 20, ({ exact }) => exact)
      await button(page).waitFor()
      expect(await button(page).getAttribute('aria-pressed')).toBe('false')
      expect([await heardHz(page), sounding()]).toEqual([0, []])

      await turnOn(page)
      await hearsTone(page)
      expect(sounding()).toEqual([expect.stringContaining(thread)])
      const samples = await samplesUntil(page, 30, ({ exact }) => exact)
      for (const { exact, boxes } of samples)
        if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })

      await button(page).click()
      expect(await heardHz(page)).toBe(0)
      await expect.poll(sounding, PATIENCE).toEqual([])
      expect(await page.locator('.stage video').count()).toBe(1)
    },
    180_000,
  )

  it('is heard with its picture, to within 60 ms', async () => {
    // Such a camera sends an eighth of a second at a time.
    const camera = await startRtspCamera({ audio: 'pcma' })
    const page = await openPage(camera.url, connectionsWithinReach)
    await button(page).waitFor({ timeout: 60_000 })
    await turnOn(page)
    const late: number[] = []
    const together = async () => {
      const lateMs = await page.evaluate<number | null>(`soundOf(connection).then(({ lateMs }) => lateMs)`)
      if (lateMs !== null && Number.isFinite(lateMs)) late.push(lateMs)
      const newest = late.slice(-20).toSorted((a, b) => a - b)
      return newest.length < 20 ? Number.POSITIVE_INFINITY : Math.abs(newest[10]!)
    }
    await expect.poll(together, { timeout: 120_000, interval: 100 }).toBeLessThan(60)
  }, 180_000)

  it('can be turned on with the keyboard, and is as loud as before in the same browser', async () => {
    const page = await openPage(tone())
    await button(page).focus()
    await page.keyboard.press('Enter')
    const volume = page.getByRole('slider', { name: 'Volume' })
    await volume.focus()
    await page.keyboard.press('Home')
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight')
    await expect.poll(() => button(page).getAttribute('aria-busy'), PATIENCE).toBe('false')
    const loudness = () =>
      page.evaluate(() => (globalThis as unknown as Listening).document.querySelector('.stage video')?.volume)
    expect(await loudness()).toBeCloseTo(0.3)

    await page.reload()
    expect(await button(page).getAttribute('aria-pressed')).toBe('false')
    await turnOn(page)
    expect(await loudness()).toBeCloseTo(0.3)
  }, 120_000)

  it('is not offered where there is none, and is there once a camera has some', async () => {
    const camera = await startRtspCamera()
    const page = await openPage(camera.url)
    await samplesUntil(page, 10, () => true)
    expect(await button(page).count()).toBe(0)
    await camera.kill()
    const other = await startRtspCamera({ port: camera.port, audio: 'pcma' })
    await button(page).waitFor({ timeout: 60_000 })
    await turnOn(page)

    await other.kill()
    await startRtspCamera({ port: camera.port })
    await button(page).waitFor({ state: 'detached', timeout: 60_000 })
    await expect.poll(sounding, PATIENCE).toEqual([])
    await samplesUntil(page, 10, () => true)
  }, 180_000)

  it('goes along where WebRTC is gone for a while, and the picture never stands still when it is back', async () => {
    const page = await openPage(tone())
    await samplesUntil(page, 10, ({ exact }) => exact)
    await turnOn(page)
    await hearsTone(page)
    rmSync(worker)
    process.kill(childOf(servicePid(data, 'media'), 'mediasoup-worker'), 'SIGKILL')
    await expect.poll(() => comesByWebRtc(page), PATIENCE).toBe(false)
    await samplesUntil(page, 20, ({ exact }) => exact)
    await hearsTone(page)

    await noteSamples(page)
    symlinkSync(webrtcWorker!, worker)
    await expect.poll(() => comesByWebRtc(page), { timeout: 120_000, interval: 250 }).toBe(true)
    await hearsTone(page)
    const shown = (await samplesOf(page)).map(({ pts }) => pts)
    const steps = shown.slice(1).map((pts, i) => pts - shown[i]!)
    expect(Math.min(...steps)).toBeGreaterThan(-SECOND)
    expect(Math.max(...steps)).toBeLessThan(2 * SECOND)
    expect(await page.getByText('retrying').count()).toBe(0)
    const samples = await samplesUntil(page, 20, ({ exact }) => exact)
    for (const { exact, boxes } of samples)
      if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
  }, 300_000)
})

/** `connection` is the page's newest, and `soundOf` tells what is played of its sound. */
const connectionsWithinReach = `${readFileSync(join(import.meta.dirname, '../fixtures/whep-viewer.js'), 'utf8')}
  const Connection = globalThis.RTCPeerConnection
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...options) {
      super(...options)
      globalThis.connection = this
    }
  }`

/** Of what people see; another view may be tried beside it. */
const comesByWebRtc = (page: Page) =>
  page.evaluate(() => {
    const video = (globalThis as unknown as Listening).document.querySelector('.stage video')
    return video !== null && video.srcObject !== null
  })

/** What is used of a browser: the tests are no program of one, so its types are not at hand. */
interface Listening {
  document: { querySelector(selector: string): Video | null }
  AudioContext: new () => AudioContext
  AnalyserNode: new (context: AudioContext, options: { fftSize: number }) => Analyser
}
interface Video {
  muted: boolean
  volume: number
  srcObject: object | null
  captureStream(): object
}
interface AudioContext {
  sampleRate: number
  createMediaStreamSource(stream: object): { connect(to: Analyser): void }
  close(): Promise<void>
}
interface Analyser {
  fftSize: number
  frequencyBinCount: number
  getByteFrequencyData(bins: Uint8Array): void
}
