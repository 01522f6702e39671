// @module-tag long

import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Recording } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { probePackets } from '../../../test/fixtures/media/live-view.ts'
import {
  continuousRecording,
  listRecordings,
} from '../../../test/fixtures/media/recorded-stream.ts'
import {
  openMedia,
  type ServedMedia,
  serveMedia,
} from '../../../test/fixtures/media/served-media.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'

const PATIENCE = { timeout: 120_000, interval: 100 }
const TIMEOUT = { timeout: 240_000 }
const SECOND = 90_000
const FPS = 25
const coders = { aac: 'avenc_aac ! aacparse', mulaw: 'audio/x-raw,rate=8000,channels=1 ! mulawenc' }

const settings = { media: { recording: { segment_s: 4 } } }

/** A file of forty seconds with a tick every second. */
function makeTicks(url: string, coder: keyof typeof coders) {
  const video = `videotestsrc num-buffers=${40 * FPS} ! video/x-raw,width=320,height=240,framerate=${FPS}/1 ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${FPS} ! h264parse ! mux.`
  const audio = `audiotestsrc wave=ticks samplesperbuffer=20 num-buffers=88200 ! audio/x-raw,rate=44100,channels=1 ! audioconvert ! audioresample ! ${coders[coder]} ! mux.`
  const launch = `matroskamux name=mux ! filesink location=${url} ${video} ${audio}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
}

/** Records such files as sources from 1 on, in segments of four seconds. */
async function record(media: ServedMedia, recording: Recording, ...files: (keyof typeof coders)[]) {
  const sources = files.map((coder, i) => {
    const url = join(media.folder, `${coder}.mkv`)
    makeTicks(url, coder)
    return createDesiredSource({ id: i + 1, type: 'inf', url, recording })
  })
  const control = await media.connectControl()
  await control.apply(...sources)
  return { media, control, source: sources[0]! }
}

/** Waits for a range with these codecs and more than `seconds`. */
async function waitForRange(media: ServedMedia, seconds: number, codecs: RegExp, source = 1) {
  return vi.waitFor(async () => {
    const streams = await listRecordings(media)
    const found = streams
      .find(({ stream }) => stream === source)
      ?.ranges.find(
        each =>
          codecs.test(each.codecs) && Date.parse(each.to) - Date.parse(each.from) > seconds * 1000,
      )
    expect(found, JSON.stringify(streams)).toBeDefined()
    return found!
  }, PATIENCE)
}

async function save(media: ServedMedia, path: string, source = 1): Promise<string> {
  const answer = await fetch(`${media.url}/recordings/${source}${path}`)
  expect(answer.status).toBe(200)
  const file = join(media.folder, 'saved.mp4')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  return file
}

/** Asynchronous, because media runs in the process of the test. */
const run = promisify(execFile)

/** Playback times of the ticks in seconds. */
async function findTicks(path: string): Promise<number[]> {
  const rate = 48_000
  const args = ['-v', 'error', '-i', path, '-map', '0:a', '-af', 'aresample=async=1:first_pts=0']
  const { stdout: pcm } = await run(
    'ffmpeg',
    [...args, '-ac', '1', '-ar', `${rate}`, '-f', 's16le', '-'],
    {
      encoding: 'buffer',
      maxBuffer: 1 << 28,
    },
  )
  const loud = Array.from(
    { length: pcm.length / 2 },
    (_, i) => Math.abs(pcm.readInt16LE(i * 2)) > 3000,
  )
  return loud.flatMap((is, i) =>
    is && !loud.slice(Math.max(0, i - rate / 10), i).includes(true) ? [i / rate] : [],
  )
}

const recorded = shared(
  async () => record(await openMedia({ settings }), continuousRecording, 'aac', 'mulaw'),
  ({ media }) => media.remove(),
)

describe('recorded sound', () => {
  it.each([
    ['aac', 1],
    ['mulaw', 2],
  ] as const)('records %s without gaps between segments', TIMEOUT, async (_, source) => {
    const { media } = recorded
    const { from: begin, to } = await waitForRange(
      media,
      12,
      /^avc1\.[0-9a-f]{6},mp4a\.40\.2$/,
      source,
    )
    // The first pictures are recorded before the sound is detected.
    const from = new Date(Date.parse(begin) + 2000).toISOString()
    const saved = await save(media, `?from=${from}&to=${to}`, source)
    const [pictures, sounds] = [probePackets(saved), probePackets(saved, 'a')]
    const gaps = sounds.slice(1).map(({ pts }, i) => pts - sounds[i]!.pts)
    expect(Math.max(...gaps)).toBeLessThan(0.06 * SECOND)
    expect(Math.min(...gaps)).toBeGreaterThan(0)
    for (const end of [0, -1]) {
      expect(Math.abs(pictures.at(end)!.pts - sounds.at(end)!.pts)).toBeLessThan(SECOND / 4)
    }
    const ticks = await findTicks(saved)
    expect(ticks.length).toBeGreaterThan(8)
    const apart = ticks.slice(1).map((at, i) => at - ticks[i]!)
    for (const each of apart) expect(each).toBeCloseTo(1, 1)
  })

  it('creates a clip with exactly the sound of its pictures', TIMEOUT, async () => {
    const { media } = recorded
    const { from } = await waitForRange(media, 9, /mp4a/)
    const begin = Date.parse(from) + 2500
    const [first, last] = [begin, begin + 4000].map(ms => new Date(ms).toISOString())
    const saved = await save(media, `/clip.mp4?from=${first}&to=${last}`)
    const entries = [
      '-v',
      'error',
      '-show_entries',
      'stream=codec_type,duration',
      '-of',
      'csv=p=0',
      saved,
    ]
    const durations = (await run('ffprobe', entries)).stdout.trim().split('\n')
    expect(durations.map(line => line.split(',')[0])).toEqual(['video', 'audio'])
    for (const line of durations) expect(Number(line.split(',')[1])).toBeCloseTo(4, 0)
    const ticks = await findTicks(saved)
    expect(ticks.length).toBeGreaterThanOrEqual(3)
    expect(ticks.length).toBeLessThanOrEqual(5)
    const whole = await findTicks(await save(media, `?from=${from}&to=${last}`))
    // The clip begins 2.5 s after the whole recording.
    const later = ticks.map(at => whole.some(other => Math.abs(other - at - 2.5) < 0.06))
    expect(later.filter(Boolean).length).toBeGreaterThanOrEqual(2)
  })

  /**
   * Script for a page: plays an address directly or through Media Source Extensions and
   * counts decoded bytes.
   */
  const playing = (url: string, way: 'file' | 'source') => `(async () => {
    const video = document.createElement('video')
    video.muted = true
    const decoded = () => ({ sound: video.webkitAudioDecodedByteCount, pictures: video.webkitVideoDecodedByteCount })
    if ('${way}' === 'file') video.src = ${JSON.stringify(url)}
    else {
      const answer = await fetch(${JSON.stringify(url)})
      const source = new MediaSource()
      video.src = URL.createObjectURL(source)
      await new Promise(resolve => { source.onsourceopen = resolve })
      const buffer = source.addSourceBuffer(answer.headers.get('Content-Type'))
      const bytes = await answer.arrayBuffer()
      await new Promise((resolve, reject) => {
        buffer.onupdateend = resolve
        buffer.onerror = reject
        buffer.appendBuffer(bytes)
      })
      if (video.buffered.length !== 1) throw new Error(video.buffered.length + ' parts')
    }
    await video.play()
    while (video.currentTime < 3) {
      if (video.error) throw video.error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    return decoded()
  })()`

  it('plays in Chromium across segments', TIMEOUT, async () => {
    const { media } = recorded
    const { from } = await waitForRange(media, 9, /mp4a/)
    const to = new Date(Date.parse(from) + 9000).toISOString()
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`${media.url}/health`)
    for (const [path, way] of [
      [`?from=${from}&to=${to}`, 'source'],
      [`/clip.mp4?from=${from}&to=${to}`, 'file'],
    ] as const) {
      const played = await page.evaluate<{ sound: number; pictures: number }>(
        playing(`${media.url}/recordings/1${path}`, way),
      )
      expect(played.sound, path).toBeGreaterThan(1000)
      expect(played.pictures, path).toBeGreaterThan(1000)
    }
  })

  it('records sound from before an event', TIMEOUT, async () => {
    const aroundEvents: Recording = {
      ...continuousRecording,
      mode: 'event',
      before_s: 2,
      after_s: 3,
    }
    const { media, control } = await record(await serveMedia({ settings }), aroundEvents, 'aac')
    const packets = () => media.readMetric('eyrie_media_packets_total', '{source="1"}')
    await vi.waitFor(async () => expect(await packets()).toBeGreaterThan(5 * FPS), PATIENCE)
    // One second ago in stream time, which may lag on a busy machine.
    const pts = (await packets()) * (SECOND / FPS) - SECOND
    const time = new Date().toISOString()
    control.send({ type: 'event', source: 1, channel: 3, pts, time, data: { type: 'bell' } })
    const { from, to } = await waitForRange(media, 4.5, /mp4a/)
    const saved = await save(media, `?from=${from}&to=${to}`)
    expect((await findTicks(saved)).length).toBeGreaterThanOrEqual(3)
    expect(probePackets(saved, 'a')[0]!.pts).toBeLessThan(SECOND / 4)
  })

  it('records no sound when it is disabled', TIMEOUT, async () => {
    const silent: Recording = { ...continuousRecording, sound: false }
    const { media, control, source } = await record(await serveMedia({ settings }), silent, 'aac')
    await waitForRange(media, 3, /^avc1\.[0-9a-f]{6}$/)
    expect(probePackets(await save(media, ''), 'a')).toEqual([])
    await control.apply({ ...source, recording: continuousRecording })
    await waitForRange(media, 3, /mp4a/)
  })

  it('records the sound of a camera', TIMEOUT, async () => {
    const camera = await startRtspCamera({ audio: 'pcma' })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(
      createDesiredSource({
        id: 1,
        type: 'video',
        url: camera.url,
        recording: continuousRecording,
      }),
    )
    const { from, to } = await waitForRange(media, 5, /mp4a/)
    const saved = await save(media, `?from=${from}&to=${to}`)
    expect((await findTicks(saved)).length).toBeGreaterThan(2)
  })
})
