// @module-tag long

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { collectSamples } from '../fixtures/browser/live-page.ts'
import { readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { SMALL_WINDOW } from '../fixtures/browser/small-window.ts'
import { startRtspCamera } from '../fixtures/cameras/rtsp-camera.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { findChildPid, findServicePid } from '../fixtures/processes/processes.ts'
import { numberReaderPlugins } from '../fixtures/processes/watched-appliance.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorker, webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const SECOND = 90_000
const TONE_HZ = 1_000
const POLL = { timeout: 60_000, interval: 250 }

describe('sound of the live page', needs(webrtcWorkerRequirement), () => {
  let data: string
  let appliance: Appliance
  let browser: Browser
  let worker: string
  const getPath = (name: string) => join(data, 'media', name)

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'eyrie-sound-'))
    worker = join(data, 'mediasoup-worker')
    symlinkSync(webrtcWorker!, worker)
    browser = await openBrowser()
    appliance = await startAppliance({
      source: SMALL_PICTURE,
      environment: {
        EYRIE_DATA: data,
        EYRIE_PLUGINS: numberReaderPlugins,
        MEDIASOUP_WORKER_BIN: worker,
      },
    })
    await appliance.waitForLine(/ready: open/)
    await createEngineClient(appliance).activate(COMMUNITY_LICENSE)
    mkdirSync(dirname(getPath('x')), { recursive: true })
    await writeNumberedVideo(getPath('silent.mp4'), 500, { bFrames: 0 })
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
    execFileSync('ffmpeg', [
      '-v',
      'error',
      '-i',
      getPath('silent.mp4'),
      ...tone,
      getPath('tone.mp4'),
    ])
  }, 180_000)
  afterAll(async () => {
    await browser.close()
    await appliance.remove()
    rmSync(data, { recursive: true, force: true })
  })

  /** Makes this address the only source of the appliance and opens the live page. */
  async function openPage(address: string, script = ''): Promise<Page> {
    const isCamera = address.startsWith('rtsp:')
    await createEngineClient(appliance).deploy([
      {
        sources: [{ type: isCamera ? 'video' : 'inf', address }],
        elements: [{ name: isCamera ? 'motion' : 'read-number' }],
      },
    ])
    const page = await browser.newPage({ viewport: SMALL_WINDOW })
    onTestFinished(() => page.close())
    if (script) await page.addInitScript(script)
    await openConsole(page, appliance)
    return page
  }

  const withoutWebRtc = 'delete globalThis.RTCPeerConnection'
  const toneUrl = () => pathToFileURL(getPath('tone.mp4')).href
  const soundButton = (page: Page) => page.getByRole('button', { name: 'Sound' })

  /** Names of the threads in media that forward or encode sound. */
  function listSoundThreads(): string[] {
    const media = findServicePid(data, 'media')
    const names = readdirSync(`/proc/${media}/task`).map(id => {
      try {
        return readFileSync(`/proc/${media}/task/${id}/comm`, 'utf8').trim()
      } catch {
        return ''
      }
    })
    return names.filter(name => name.startsWith('aux-sound'))
  }

  async function unmute(page: Page) {
    await soundButton(page).click()
    await expect.poll(() => soundButton(page).getAttribute('aria-busy'), POLL).toBe('false')
  }

  /** Measures the loudest frequency that the page plays, in Hz; 0 while it is silent. */
  const measureHz = (page: Page) =>
    page.evaluate(async () => {
      const scope = globalThis as unknown as AudioScope
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

  const expectTone = (page: Page) =>
    expect.poll(async () => Math.abs((await measureHz(page)) - TONE_HZ), POLL).toBeLessThan(30)

  it.each([
    ['WebRTC', '', 'aux-sound-opus'],
    ['fragmented MP4', withoutWebRtc, 'aux-sound-aac'],
  ])(
    'plays over %s while it is on, and costs nothing otherwise',
    async (_, script, thread) => {
      const page = await openPage(toneUrl(), script)
      await collectSamples(page, 20, ({ exact }) => exact)
      await soundButton(page).waitFor()
      expect(await soundButton(page).getAttribute('aria-pressed')).toBe('false')
      expect(await measureHz(page)).toBe(0)
      // The player of an earlier page may still be closing.
      await expect.poll(listSoundThreads, POLL).toEqual([])

      await unmute(page)
      await expectTone(page)
      expect(listSoundThreads()).toEqual([expect.stringContaining(thread)])
      const samples = await collectSamples(page, 30, ({ exact }) => exact)
      for (const { exact, boxes } of samples) {
        if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
      }

      await soundButton(page).click()
      expect(await measureHz(page)).toBe(0)
      await expect.poll(listSoundThreads, POLL).toEqual([])
      // A player that was loading in the background takes over, or is removed.
      await expect.poll(() => page.locator('.stage video').count(), POLL).toBe(1)
    },
    180_000,
  )

  it('is in sync with the picture to within 60 ms', async () => {
    // Such a camera sends chunks of 125 ms.
    const camera = await startRtspCamera({ audio: 'pcma' })
    const page = await openPage(camera.url, exposeConnection)
    await soundButton(page).waitFor({ timeout: 60_000 })
    await unmute(page)
    const offsetsMs: number[] = []
    const measureOffset = async () => {
      const lateMs = await page.evaluate<number | null>(
        `getSoundStats(connection).then(({ lateMs }) => lateMs)`,
      )
      if (lateMs !== null && Number.isFinite(lateMs)) offsetsMs.push(lateMs)
      const newest = offsetsMs.slice(-20).toSorted((a, b) => a - b)
      return newest.length < 20 ? Number.POSITIVE_INFINITY : Math.abs(newest[10]!)
    }
    await expect.poll(measureOffset, { timeout: 120_000, interval: 100 }).toBeLessThan(60)
  }, 180_000)

  it('can be turned on with the keyboard, and keeps its volume in the browser', async () => {
    const page = await openPage(toneUrl())
    await soundButton(page).focus()
    await page.keyboard.press('Enter')
    const slider = page.getByRole('slider', { name: 'Volume' })
    await slider.focus()
    await page.keyboard.press('Home')
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight')
    await expect.poll(() => soundButton(page).getAttribute('aria-busy'), POLL).toBe('false')
    const readVolume = () =>
      page.evaluate(
        () => (globalThis as unknown as AudioScope).document.querySelector('.stage video')?.volume,
      )
    await expect.poll(readVolume, POLL).toBeCloseTo(0.3)

    await page.reload()
    expect(await soundButton(page).getAttribute('aria-pressed')).toBe('false')
    await unmute(page)
    await expect.poll(readVolume, POLL).toBeCloseTo(0.3)
  }, 180_000)

  it('is offered only while the camera sends sound', async () => {
    const camera = await startRtspCamera()
    const page = await openPage(camera.url)
    await collectSamples(page, 10, () => true)
    expect(await soundButton(page).count()).toBe(0)
    await camera.kill()
    const other = await startRtspCamera({ port: camera.port, audio: 'pcma' })
    await soundButton(page).waitFor({ timeout: 60_000 })
    await unmute(page)

    await other.kill()
    await startRtspCamera({ port: camera.port })
    await soundButton(page).waitFor({ state: 'detached', timeout: 60_000 })
    await expect.poll(listSoundThreads, POLL).toEqual([])
    await collectSamples(page, 10, () => true)
  }, 180_000)

  it('continues while WebRTC is unavailable, and the picture never freezes when it returns', async () => {
    const page = await openPage(toneUrl())
    await collectSamples(page, 10, ({ exact }) => exact)
    await unmute(page)
    await expectTone(page)
    rmSync(worker)
    process.kill(findChildPid(findServicePid(data, 'media'), 'mediasoup-worker'), 'SIGKILL')
    await expect.poll(() => usesWebRtc(page), POLL).toBe(false)
    await collectSamples(page, 20, ({ exact }) => exact)
    await expectTone(page)
    const opened = await openPage(toneUrl())
    await collectSamples(opened, 20, ({ exact }) => exact)
    expect(await usesWebRtc(opened)).toBe(false)
    await opened.close()

    await startSampling(page)
    symlinkSync(webrtcWorker!, worker)
    await expect.poll(() => usesWebRtc(page), { timeout: 120_000, interval: 250 }).toBe(true)
    await expectTone(page)
    const pts = (await readSamples(page)).map(sample => sample.pts)
    const steps = pts.slice(1).map((next, i) => next - pts[i]!)
    expect(Math.min(...steps)).toBeGreaterThan(-SECOND)
    expect(Math.max(...steps)).toBeLessThan(2 * SECOND)
    expect(await page.getByText('retrying').count()).toBe(0)
    const samples = await collectSamples(page, 20, ({ exact }) => exact)
    for (const { exact, boxes } of samples) {
      if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
    }
  }, 300_000)
})

/** Exposes the newest connection of the page as `connection`; `soundOf` measures its sound. */
const exposeConnection = `${readFileSync(join(import.meta.dirname, '../fixtures/browser/whep-viewer.js'), 'utf8')}
  const Connection = globalThis.RTCPeerConnection
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...options) {
      super(...options)
      globalThis.connection = this
    }
  }`

/** The player on display uses WebRTC. Another one may be loading in the background. */
const usesWebRtc = (page: Page) =>
  page.evaluate(() => {
    const video = (globalThis as unknown as AudioScope).document.querySelector('.stage video')
    return video !== null && video.srcObject !== null
  })

/** The parts of the DOM that these tests use: they are compiled without its types. */
interface AudioScope {
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
