// @module-tag long

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Decoder } from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import {
  countFrames,
  probePackets,
  probeVideo,
  receiveStream,
} from '../../../test/fixtures/media/live-view.ts'
import { findElementThreads } from '../../../test/fixtures/media/media-threads.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import {
  createJpeg,
  createMessageHeader,
  startPublisher,
} from '../../../test/fixtures/network/zeromq-publisher.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }
const FPS = 30
const TICKS = 90_000 / FPS

/** GStreamer encoders with a suitable container. */
const coders = {
  h265: 'x265enc key-int-max=15 log-level=none ! h265parse ! mp4mux',
  jpeg: 'jpegenc ! avimux',
  raw: 'avimux',
  vp8: 'vp8enc deadline=1 keyframe-max-dist=15 ! matroskamux',
  vp9: 'vp9enc deadline=1 keyframe-max-dist=15 ! matroskamux',
}
type Codec = keyof typeof coders | 'mpeg'

const CLIP_FRAMES = 90

/** Writes a clip of three seconds. */
function writeClip(codec: Codec, path: string) {
  if (codec === 'mpeg') {
    // The timestamps of GStreamer's MPEG-4 encoder are wrong.
    const source = `testsrc=size=320x240:rate=${FPS}:duration=${CLIP_FRAMES / FPS}`
    const output = ['-codec:v', 'mpeg4', '-g', '15', '-f', 'mp4', path]
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, ...output])
  } else {
    const picture = `video/x-raw,format=I420,width=320,height=240,framerate=${FPS}/1`
    const source = `videotestsrc num-buffers=${CLIP_FRAMES} pattern=ball animation-mode=frames ! ${picture}`
    const launch = `${source} ! ${coders[codec]} ! filesink location=${path}`
    execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
  }
  expect(countFrames(path)).toBe(CLIP_FRAMES)
}

/** Plays a clip in a loop. */
async function serve(codec: Codec, { decoder = 'gst' }: { decoder?: Decoder } = {}) {
  const media = await serveMedia()
  const path = join(media.folder, 'clip')
  writeClip(codec, path)
  const control = await media.connectControl()
  const wanted = createDesiredSource({ id: 1, type: 'inf', url: path, decoder })
  await control.apply(wanted)
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return { media, control, wanted, received: join(media.folder, 'received.mp4') }
}

/** Threads of running transcoders. */
const findEncoderThreads = () => findElementThreads('aux-transcode')

const waitUntilIdle = () =>
  vi.waitUntil(async () => (await findEncoderThreads()).length === 0, PATIENCE)

describe('H.265', { timeout: 180_000 }, () => {
  it('is passed through to clients that play it', async () => {
    const { media, received } = await serve('h265', { decoder: 'ffmpeg' })
    const { info, bytes } = await receiveStream(media, 60, '/streams/1/ws?codecs=h264,h265')
    writeFileSync(received, bytes)
    expect(info).toMatchObject({ codecs: 'hvc1.1.6.L63.90', width: 320, height: 240 })
    expect(probeVideo(received)).toMatchObject({ codec_name: 'hevc', codec_tag_string: 'hvc1' })
    expect(countFrames(received)).toBe(60)
    const shown = probePackets(received)
      .map(({ pts }) => pts)
      .sort((a, b) => a - b)
    expect(shown.slice(0, 45)).toEqual(Array.from({ length: 45 }, (_, i) => shown[0]! + i * TICKS))
    expect(shown[0]! % TICKS).toBe(0)
    expect(await findEncoderThreads()).toEqual([])
  })

  it('is declared in the Content-Type over plain HTTP', async () => {
    const { media } = await serve('h265')
    const leaving = new AbortController()
    const ask = (query: string) =>
      fetch(`${media.url}/streams/1${query}`, { signal: leaving.signal })
    const type = async (query: string) => (await ask(query)).headers.get('Content-Type')
    expect(await type('?codecs=h264,h265')).toBe('video/mp4; codecs="hvc1.1.6.L63.90"')
    expect(await type('')).toMatch(/^video\/mp4; codecs="avc1\./)
    leaving.abort()
  })

  it('rejects unknown codec names', async () => {
    const { media } = await serve('h265')
    const answer = await fetch(`${media.url}/streams/1?codecs=h264,theora`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'syntax',
      reason: expect.stringContaining('h264, h265'),
    })
  })
})

describe('codecs that browsers cannot play', { timeout: 180_000 }, () => {
  it.each(['h265', 'jpeg', 'raw', 'vp8', 'vp9', 'mpeg'] as const)(
    'are transcoded to H.264 with the original pts: %s',
    async codec => {
      const { media, received } = await serve(codec)
      const { info, bytes } = await receiveStream(media, 75)
      writeFileSync(received, bytes)
      expect(info).toMatchObject({
        codecs: expect.stringMatching(/^avc1\./),
        width: 320,
        height: 240,
      })
      expect(countFrames(received)).toBe(75)
      const packets = probePackets(received)
      // Matroska rounds to milliseconds, so rounding errors add up over loops.
      const isRounded = codec === 'vp8' || codec === 'vp9'
      const times = packets.map(({ pts }) => pts)
      const exactTimes = isRounded ? times.slice(1).map((pts, i) => pts - times[i]!) : times
      const off = exactTimes.map(time => Math.abs(time - Math.round(time / TICKS) * TICKS))
      expect(Math.max(...off)).toBeLessThanOrEqual(isRounded ? 90 : 0)
      // There are no B-frames.
      expect(packets.every(({ pts, dts }) => pts === dts)).toBe(true)
      // Two seconds. The encoder counts frames: on a busy machine, which drops some, the keyframes
      // are farther apart in time.
      const keyframes = packets.flatMap(({ flags }, i) => (flags.startsWith('K') ? [i] : []))
      expect(keyframes[0]).toBe(0)
      expect(keyframes.length).toBeGreaterThan(1)
      expect(
        Math.max(...keyframes.slice(1).map((index, i) => index - keyframes[i]!)),
      ).toBeLessThanOrEqual(66)
    },
  )

  it('have snapshots of any frame', async () => {
    const { media } = await serve('h265')
    const get = (query = '') => fetch(`${media.url}/streams/1/snapshot.jpg${query}`)
    const pts = await vi.waitUntil(async () => {
      const answer = await get()
      return (
        answer.ok && Number(answer.headers.get('X-Pts')) > 0 && Number(answer.headers.get('X-Pts'))
      )
    }, PATIENCE)
    const exact = await get(`?pts=${pts + TICKS}`)
    expect(Math.abs(Number(exact.headers.get('X-Pts')) - pts)).toBeLessThanOrEqual(15 * TICKS)
    expect(await findEncoderThreads()).toEqual([])
  })

  it.each(['jpeg', 'raw', 'vp8'] as const)('have snapshots: %s', async codec => {
    const { media } = await serve(codec)
    const answer = await fetch(`${media.url}/streams/1/snapshot.jpg`)
    expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
    const picture = Buffer.from(await answer.arrayBuffer())
    expect(picture.subarray(0, 2)).toEqual(Buffer.of(0xff, 0xd8))
  })
})

it.each(['h265', 'jpeg'] as const)('transcodes %s of an RTSP camera', async codec => {
  const camera = await startRtspCamera({ codec })
  const media = await serveMedia()
  const control = await media.connectControl()
  await control.apply(
    createDesiredSource({ id: 1, type: 'video', url: camera.url, decoder: 'gst' }),
  )
  await control.waitForStatus(1, ({ state }) => state === 'running')
  const { info, bytes } = await receiveStream(media, 30)
  const received = join(media.folder, 'received.mp4')
  writeFileSync(received, bytes)
  expect(info.codecs).toMatch(/^avc1/)
  expect(countFrames(received)).toBe(30)
  const passed = await receiveStream(media, 30, '/streams/1/ws?codecs=h264,h265')
  expect(passed.info.codecs).toMatch(codec === 'h265' ? /^hvc1/ : /^avc1/)
})

it('transcodes frames received over ZeroMQ', async () => {
  const media = await serveMedia()
  const endpoint = `ipc://${join(media.folder, 'frames.sock')}`
  const size = { width: 64, height: 48 }
  const payload = createJpeg(size)
  await startPublisher(endpoint, seq => ({
    header: { ...createMessageHeader(seq), ...size, format: 'JPEG' },
    payload,
  }))
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'zmq', url: endpoint }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  const { info, bytes } = await receiveStream(media, 20)
  const received = join(media.folder, 'received.mp4')
  writeFileSync(received, bytes)
  expect(info).toMatchObject(size)
  expect(countFrames(received)).toBe(20)
})

describe('encoder', () => {
  it('runs only while the source has viewers', async () => {
    const { media } = await serve('jpeg')
    const transcoding = () => media.readMetric('eyrie_media_transcoding', '{source="1"}')
    expect([await findEncoderThreads(), await transcoding()]).toEqual([[], 0])
    const leaving = new AbortController()
    await fetch(`${media.url}/streams/1`, { signal: leaving.signal })
    await vi.waitUntil(async () => (await findEncoderThreads()).length > 0, PATIENCE)
    expect([
      await transcoding(),
      await media.readMetric('eyrie_media_viewers', '{source="1"}'),
    ]).toEqual([1, 1])
    leaving.abort()
    await waitUntilIdle()
    await vi.waitUntil(
      async () => (await media.readMetric('eyrie_media_decoding', '{source="1"}')) === 0,
      PATIENCE,
    )
  })

  it('is shared by all viewers and starts each with a keyframe', async () => {
    const { media, received } = await serve('raw')
    const leaving = new AbortController()
    const stay = () => fetch(`${media.url}/streams/1`, { signal: leaving.signal })
    await Promise.all([stay(), stay()])
    // The encoder restarts when the clip loops.
    await vi.waitUntil(async () => (await findEncoderThreads()).length === 1, PATIENCE)
    const watched = await Promise.all([receiveStream(media, 60), receiveStream(media, 40)])
    leaving.abort()
    for (const { bytes } of watched) {
      writeFileSync(received, bytes)
      expect(probePackets(received)[0]!.flags).toMatch(/^K/)
    }
  })

  it('starts and stops without losing frames of the analysis', async () => {
    const { media, control, wanted } = await serve('h265')
    const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
    await control.apply({ ...wanted, views, rate: 10 })
    const first = await control.waitForNextMessage('frame')
    for (let i = 0; i < 3; i++) {
      await receiveStream(media, 20)
      await waitUntilIdle()
    }
    await control.waitForNextMessage('frame')
    const frames = control.messages.flatMap(each => (each.type === 'frame' ? [each] : []))
    const late = frames.filter(
      ({ n, pts }) => Math.abs(pts - first.pts - (n - first.n) * 9000) > TICKS,
    )
    expect(late).toEqual([])
  }, 180_000)

  it('encodes all pictures when only few are analysed', async () => {
    const { media, control, wanted, received } = await serve('jpeg')
    await control.apply({
      ...wanted,
      views: { grey: createViewSpec({ format: 'GRAY8', width: 64 }) },
      rate: 1,
    })
    await control.waitForNextMessage('frame')
    writeFileSync(received, (await receiveStream(media, 30)).bytes)
    const packets = probePackets(received)
    // A machine under load may leave one out.
    expect(packets.at(-1)!.pts - packets[0]!.pts).toBeLessThan(60 * TICKS)
  })
})
