// @module-tag long

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import {
  createPlan,
  startTestRuntime,
  type TestRuntime,
} from '../../../../test/fixtures/engine/test-runtime.ts'
import { writeNumberedVideo } from '../../../../test/fixtures/media/numbered-video.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import {
  type MediaProcess,
  startMediaProcess,
} from '../../../../test/fixtures/processes/media-process.ts'
import type { Plan } from '../../plan/plan.ts'

const FRAMES = 75
const PATIENCE = { timeout: 60_000, interval: 50 }
/** A camera is missed after some seconds, and waited for longer and longer. */
const LONG = { timeout: 60_000, interval: 50 }

let folder: string
let output: string
let media: MediaProcess
let test: TestRuntime

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-recording-'))
  await writeNumberedVideo(join(folder, 'numbered.mp4'), FRAMES)
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  output = mkdtempSync(join(folder, 'output-'))
  media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  test = await startTestRuntime({
    mediaUrl: media.url,
    plugins: join(folder, 'none'),
    models: join(folder, 'none'),
    ring: media.environment.ring,
  })
})
afterEach(async () => {
  await test.stop()
  await media.stop()
})

/** A plan whose pipelines all feed one `video` sink that records to `door.mp4`. */
function recording(
  source: Partial<Plan['sources'][number]> & { url: string },
  { query = '', pipelines = 1 } = {},
): Plan {
  const plan = createPlan(
    { pacing: 'realtime', ...source },
    ...Array.from({ length: pipelines }, () => [{ name: 'read-number' }]),
  )
  return {
    ...plan,
    pipelines: plan.pipelines.map(pipeline => ({ ...pipeline, sinks: [1] })),
    sinks: [{ id: 1, type: 'video', address: `file://${output}/door.mp4${query}`, filter: [] }],
  }
}

interface Recorded {
  pictures: number[]
  /** Times of the metadata track's samples. */
  noted: number[]
  texts: { n: number; pts: number; epoch: number; channel: number; objects: { score: number }[] }[]
}

/** Reads a file with FFmpeg's tools: times in 90 kHz ticks. */
function read(name: string): Recorded {
  const path = join(output, name)
  const probe = (...args: string[]) =>
    JSON.parse(
      execFileSync('ffprobe', ['-v', 'error', ...args, '-of', 'json', path], { encoding: 'utf8' }),
    )
  const { streams } = probe('-show_entries', 'stream=codec_type,codec_tag_string,time_base')
  expect(streams).toEqual([
    expect.objectContaining({
      codec_type: 'video',
      codec_tag_string: 'avc1',
      time_base: '1/90000',
    }),
    expect.objectContaining({ codec_type: 'data', codec_tag_string: 'mett', time_base: '1/90000' }),
  ])
  const pts = (stream: number): number[] =>
    probe('-select_streams', `${stream}`, '-show_entries', 'packet=pts')
      .packets.map((packet: { pts: number }) => packet.pts)
      .sort((a: number, b: number) => a - b)
  const copy = ['-v', 'error', '-i', path, '-map', '0:1', '-c', 'copy', '-f', 'data', '-']
  const texts = execFileSync('ffmpeg', copy, { encoding: 'utf8', maxBuffer: 1 << 26 })
  return {
    pictures: pts(0),
    noted: pts(1),
    texts: JSON.parse(`[${texts.replaceAll('}{', '},{')}]`),
  }
}

/** How many pictures FFmpeg decodes without a complaint. */
function countDecoded(name: string): number {
  const args = [
    '-v',
    'error',
    '-count_frames',
    '-select_streams',
    'v',
    '-show_entries',
    'stream=nb_read_frames',
  ]
  const text = execFileSync('ffprobe', [...args, '-of', 'csv=p=0', join(output, name)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return Number(text)
}

describe('recording of a video sink', { timeout: 180_000 }, () => {
  it('survives a kill without leaving unfinished files, even while the camera is disconnected', async () => {
    for (const name of ['door.mp4', 'door.mp4.new', 'door-2.mp4', 'door-2.mp4.new']) {
      writeFileSync(join(output, name), name)
    }
    await test.runtime.apply(
      recording({ url: 'rtsp://127.0.0.1:9/none', type: 'video' }, { pipelines: 2 }),
    )
    await vi.waitUntil(() => readdirSync(output).every(name => name.endsWith('.mp4')), PATIENCE)
    for (const name of ['door.mp4', 'door-2.mp4']) {
      expect(readFileSync(join(output, name), 'utf8')).toBe(name)
    }
  })

  it('contains every picture and the results of each analysed frame at exactly its time', async () => {
    await test.runtime.apply(recording({ url: join(folder, 'numbered.mp4') }))
    await test.waitForState(1, 'stopped')
    const analysed = test.getPublished('frame', 1)
    await test.stop()
    const { pictures, noted, texts } = read('door.mp4')
    const first = pictures[0]!
    expect(pictures).toEqual(Array.from({ length: FRAMES }, (_, i) => first + i * 3600))
    expect(countDecoded('door.mp4')).toBe(FRAMES)
    const start = analysed[0]!.pts! - noted[0]!
    expect(noted).toEqual(analysed.map(({ pts }) => pts! - start))
    expect(noted.every(pts => pictures.includes(pts))).toBe(true)
    expect(texts.map(({ n, pts, epoch }) => ({ n, pts, epoch }))).toEqual(
      analysed.map(({ data, pts, epoch }) => ({ n: data.n, pts, epoch })),
    )
    expect(texts.map(({ objects }) => objects)).toEqual(analysed.map(({ data }) => data.objects))
    expect(noted.length).toBeGreaterThan(FRAMES / 2)
  })

  it('is rotated when it is too long, and each file starts at a keyframe with the results of its pictures', async () => {
    const query = '?max_seconds=1&keep=2'
    await test.runtime.apply(
      recording({ url: join(folder, 'numbered.mp4'), type: 'inf' }, { query }),
    )
    await vi.waitUntil(
      () => existsSync(join(output, 'door.2.mp4')) && test.getAnalysedFrames(1).length > 120,
      PATIENCE,
    )
    await test.stop()
    expect(readdirSync(output).sort()).toEqual(['door.1.mp4', 'door.2.mp4', 'door.mp4'])
    const [older, newer] = ['door.2.mp4', 'door.1.mp4'].map(read) as [Recorded, Recorded]
    for (const { pictures, noted } of [older, newer]) {
      expect(pictures).toHaveLength(25)
      expect(noted.length).toBeGreaterThan(0)
      expect(noted.every(pts => pictures.includes(pts))).toBe(true)
    }
    expect(countDecoded('door.1.mp4')).toBe(25)
    const lastOf = ({ texts }: Recorded) => texts.at(-1)!.n
    expect(newer.texts[0]!.n).toBeGreaterThan(lastOf(older))
    const notes = [...older.texts, ...newer.texts].map(({ n }) => n)
    const from = test.getAnalysedFrames(1).indexOf(notes[0]!)
    expect(notes).toEqual(test.getAnalysedFrames(1).slice(from, from + notes.length))
  })

  it('is rotated before it exceeds its maximum size', async () => {
    const query = `?max_bytes=${1 << 20}&keep=1`
    makeVideo(join(folder, 'snow.mp4'), { frames: 60, pattern: 'snow', width: 640, height: 480 })
    await test.runtime.apply(recording({ url: join(folder, 'snow.mp4'), type: 'inf' }, { query }))
    await vi.waitUntil(() => existsSync(join(output, 'door.1.mp4')), PATIENCE)
    await test.stop()
    expect(statSync(join(output, 'door.1.mp4')).size).toBeLessThanOrEqual(1 << 20)
    expect(countDecoded('door.1.mp4')).toBe(read('door.1.mp4').pictures.length)
  })

  it('has one file per channel, the first with the name of the sink', async () => {
    await test.runtime.apply(recording({ url: join(folder, 'numbered.mp4') }, { pipelines: 2 }))
    await test.waitForState(2, 'stopped')
    await test.waitForState(1, 'stopped')
    await test.stop()
    expect(readdirSync(output).sort()).toEqual(['door-2.mp4', 'door.mp4'])
    expect(new Set(read('door.mp4').texts.map(({ channel }) => channel))).toEqual(new Set([1]))
    expect(new Set(read('door-2.mp4').texts.map(({ channel }) => channel))).toEqual(new Set([2]))
  })

  it('starts a new file when the picture format changes', async () => {
    makeVideo(join(folder, 'small.mp4'), { frames: 60, width: 160, height: 120 })
    await test.runtime.apply(recording({ url: join(folder, 'numbered.mp4'), type: 'inf' }))
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > 10, PATIENCE)
    await test.runtime.apply(recording({ url: join(folder, 'small.mp4'), type: 'inf' }))
    await vi.waitUntil(() => existsSync(join(output, 'door.1.mp4')), PATIENCE)
    const before = test.getAnalysedFrames(1).length
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > before + 10, PATIENCE)
    await test.stop()
    expect(readdirSync(output).sort()).toEqual(['door.1.mp4', 'door.mp4'])
    expect(countDecoded('door.1.mp4')).toBe(read('door.1.mp4').pictures.length)
    expect(read('door.mp4').pictures[0]).toBe(0)
  })

  it('starts a new file after the camera was disconnected', async () => {
    const camera = await startRtspCamera()
    await test.runtime.apply(recording({ url: camera.url, type: 'video' }))
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > 10, LONG)
    await camera.kill()
    await vi.waitUntil(() => test.runtime.sourceStatus(1)?.state === 'reconnecting', LONG)
    const lostAt = performance.now()
    // One that is back within a second has only stumbled.
    await vi.waitUntil(() => performance.now() - lostAt > 1500, LONG)
    await startRtspCamera({ port: camera.port })
    await vi.waitUntil(() => existsSync(join(output, 'door.1.mp4')), LONG)
    const before = test.getAnalysedFrames(1).length
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > before + 10, LONG)
    await test.stop()
    expect(readdirSync(output).sort()).toEqual(['door.1.mp4', 'door.mp4'])
    const [away, back] = ['door.1.mp4', 'door.mp4'].map(read) as [Recorded, Recorded]
    for (const { pictures, noted } of [away, back]) {
      expect(pictures[0]).toBe(0)
      expect(noted.every(pts => pictures.includes(pts))).toBe(true)
    }
    expect(back.texts[0]!.pts - away.texts.at(-1)!.pts).toBeGreaterThan(90_000)
  })

  it('starts a new file after the media service was killed, because its stream time restarts', async () => {
    const { port } = new URL(media.url)
    await test.runtime.apply(recording({ url: join(folder, 'numbered.mp4'), type: 'inf' }))
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > 10, PATIENCE)
    process.kill(media.pid, 'SIGKILL')
    await media.stop()
    media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder, EYRIE_MEDIA_PORT: port })
    await vi.waitUntil(() => existsSync(join(output, 'door.1.mp4')), PATIENCE)
    const before = test.getAnalysedFrames(1).length
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > before + 10, PATIENCE)
    await test.stop()
    expect(readdirSync(output).sort()).toEqual(['door.1.mp4', 'door.mp4'])
    const epochs = ['door.1.mp4', 'door.mp4'].map(
      name => new Set(read(name).texts.map(({ epoch }) => epoch)),
    )
    expect(epochs.map(({ size }) => size)).toEqual([1, 1])
    expect(epochs[0]).not.toEqual(epochs[1])
  })
})

describe('source with another codec than H.264', { timeout: 180_000 }, () => {
  it('is recorded as H.264, like its live stream', async () => {
    makeVideo(join(folder, 'hevc.mp4'), { frames: 60, codec: 'h265' })
    await test.runtime.apply(
      recording({ url: join(folder, 'hevc.mp4'), type: 'inf', decoder: 'gst' }),
    )
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > 30, LONG)
    await vi.waitUntil(() => existsSync(join(output, 'door.mp4')), LONG)
    await vi.waitUntil(() => statSync(join(output, 'door.mp4')).size > 20_000, LONG)
    await test.stop()
    const { pictures, texts } = read('door.mp4')
    expect(pictures.length).toBeGreaterThan(0)
    expect(texts.length).toBeGreaterThan(0)
  })
})

describe('failing recording', { timeout: 180_000 }, () => {
  it('is reported without stopping a channel when the disk fails', async () => {
    writeFileSync(join(output, 'no-folder'), 'a file where a folder should be')
    const plan = recording({ url: join(folder, 'numbered.mp4'), type: 'inf' })
    const path = join(output, 'no-folder', 'door.mp4')
    await test.runtime.apply({ ...plan, sinks: [{ ...plan.sinks[0]!, address: `file://${path}` }] })
    expect(await test.waitForState(1, 'degraded')).toContain(`${path} cannot be written: `)
    const before = test.getAnalysedFrames(1).length
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > before + 25, PATIENCE)
    rmSync(join(output, 'no-folder'))
    // On a busy machine, the channel may still be degraded because it drops frames.
    const getReason = () => test.runtime.pipelineStatistics(1).reason
    await vi.waitUntil(() => !getReason()?.includes('cannot be written'), PATIENCE)
    await test.stop()
    expect(readdirSync(join(output, 'no-folder'))).toEqual(['door.mp4'])
  })
})
