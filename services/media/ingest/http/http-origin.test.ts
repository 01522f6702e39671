import { readFileSync } from 'node:fs'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import {
  type AddressObject,
  type DesiredSource,
  type MessageFromMedia,
  TICKS_PER_SECOND,
} from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { startHttpCamera } from '../../../../test/fixtures/cameras/http-camera.ts'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

const MAX_BACKOFF_MS = 30_000
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const isFrame = (message: MessageFromMedia) => message.type === 'frame'
const camera = (address: AddressObject, more: Partial<DesiredSource> = {}) =>
  createDesiredSource({ id: 1, type: 'video', address, views, decoder: 'gst', ...more })
const isLost = ({ state }: { state: string }) => state === 'reconnecting'
const isRunning = ({ state }: { state: string }) => state === 'running'

/** Serves a stream of another camera in pieces of several pictures, as after a network delay. */
async function createBursts(path: string): Promise<(response: ServerResponse) => void> {
  const behind = await startHttpCamera()
  return response => {
    get(behind.url(path), stream => {
      response.writeHead(200, { 'Content-Type': stream.headers['content-type'] })
      const pieces: Buffer[] = []
      stream.on('data', piece => {
        pieces.push(piece)
        if (pieces.length === 4) response.write(Buffer.concat(pieces.splice(0)))
      })
      response.on('close', () => stream.destroy())
    })
  }
}

describe('HTTP camera', () => {
  it.each([
    ['/live.mp4', 'gst_h264', 'h264'],
    ['/live.mp4', 'ffmpeg', 'h264'],
    ['/live.ts', 'gst', 'h264'],
    ['/video.mjpg?resolution=320x240&fps=25', 'gst', 'jpeg'],
    ['/video.mjpg', 'ffmpeg', 'jpeg'],
    ['/video.mjpg', 'gst_h264', 'jpeg'],
    ['/h265.ts', 'gst_h264', 'h265'],
    ['/h265.mp4', 'gst_h264', 'h265'],
    ['/mpeg4.ts', 'gst_h264', 'mpeg4'],
  ] as const)('that serves %s is decoded by %s', async (path, decoder, codec) => {
    const { url, requests } = await startHttpCamera()
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url(path) }, { decoder }))
    await control.message('frame', ({ n }) => n > 5)
    expect(await control.waitForStatus(1, isRunning)).toMatchObject({
      width: 320,
      height: 240,
      codec,
    })
    expect(requests.map(request => request.path)).toEqual([path, path])
    const stream = await fetch(`${media.url}/streams/1/snapshot.jpg`)
    expect(stream.headers.get('Content-Type')).toBe('image/jpeg')
  })

  it('that serves a file is played in real time, and again after its end', async () => {
    const path = join(createTemporaryFolder(), 'clip.mp4')
    makeVideo(path, { frames: 30, fps: 15, fastStart: true })
    const requestedAt: number[] = []
    const { url } = await startHttpCamera({
      answers: {
        '/clip.mp4': response => {
          requestedAt.push(performance.now())
          response.setHeader('Content-Type', 'video/mp4').end(readFileSync(path))
        },
      },
    })
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/clip.mp4') }))
    const { reason } = await control.waitForStatus(1, isLost)
    const [, playedAt] = requestedAt
    // The last of 30 frames at 15 fps is due after 29/15 s.
    expect(performance.now() - playedAt!).toBeGreaterThan(1_900)
    expect(reason).toBe(`${url('/clip.mp4')} ended the stream`)
    await control.message('frame')
    clock.advance(MAX_BACKOFF_MS)
    expect(await control.waitForNextMessage('frame')).toMatchObject({ discontinuity: true })
  })

  it.each(['/video.mjpg', '/bursts.mjpg'])(
    'that serves %s is limited to the configured frame rate',
    async path => {
      const { url } = await startHttpCamera({
        answers: { '/bursts.mjpg': await createBursts('/video.mjpg') },
      })
      const media = await serveMedia()
      const control = await media.connectControl()
      await control.apply(camera({ url: url(path) }, { rate: 5 }))
      await control.message('frame', ({ n }) => n >= 8)
      const listFrames = () => control.messages.filter(isFrame)
      const frames = listFrames()
      const seconds = (frames.at(-1)!.pts - frames[0]!.pts) / TICKS_PER_SECOND
      const passed = frames.at(-1)!.n - frames[0]!.n
      // One frame per fifth of a second; the first and the last may be incomplete.
      expect(passed).toBeLessThan(seconds * 5 + 1)

      // It is not limited to less. A busy machine may receive hardly anything for seconds.
      const intervals = () => listFrames().map(({ pts }, i, all) => pts - (all[i - 1]?.pts ?? 0))
      const shortest = () => Math.min(...intervals().slice(1)) / TICKS_PER_SECOND
      await expect.poll(shortest).toBeLessThan(1.5 / 5)
    },
  )

  it('that sends several pictures at once loses none of them', async () => {
    const { url } = await startHttpCamera({
      answers: { '/bursts.mjpg': await createBursts('/video.mjpg') },
    })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/bursts.mjpg') }))
    const first = await control.message('frame')
    // The camera sends 25 pictures a second. If it stalls, it catches up.
    await control.message('frame', ({ n, pts }) => {
      const seconds = (pts - first.pts) / TICKS_PER_SECOND
      return n >= 50 && n - first.n > seconds * 25 - 8
    })
  })

  it('reconnects after each restart, with increasing stream time', {
    tags: 'long',
    timeout: 180_000,
  }, async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    let { url, port, kill } = await startHttpCamera()
    await control.apply(
      camera({ url: url('/live.mp4') }),
      camera({ url: url('/video.mjpg') }, { id: 2 }),
      camera({ url: url('/live.ts') }, { id: 3 }),
    )
    for (const id of [1, 2, 3]) await control.message('frame', ({ source }) => source === id)
    for (let time = 1; time <= 3; time++) {
      await kill()
      for (const id of [1, 2, 3]) {
        expect((await control.waitForStatus(id, isLost)).reason).toContain(String(port))
      }
      ;({ kill } = await startHttpCamera({ port }))
      const back = [1, 2, 3].map(id =>
        control.waitForNextMessage(
          'frame',
          ({ source, discontinuity }) => source === id && discontinuity,
        ),
      )
      clock.advance(MAX_BACKOFF_MS)
      await Promise.all(back)
    }
    for (const id of [1, 2, 3]) {
      const frames = control.messages.filter(isFrame).filter(({ source }) => source === id)
      for (const [i, frame] of frames.entries()) {
        if (i === 0) continue
        expect(frame.n).toBeGreaterThan(frames[i - 1]!.n)
        expect(frame.pts).toBeGreaterThan(frames[i - 1]!.pts)
      }
    }
  })

  it('connects when the camera is switched on', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const { url, port, kill } = await startHttpCamera()
    await kill()
    await control.apply(camera({ url: url('/live.mp4') }))
    const { reason } = await control.waitForStatus(1, isLost)
    expect(reason).toBe(
      `${url('/live.mp4')} cannot be reached: check that the camera is on and that host and port are correct`,
    )
    await startHttpCamera({ port })
    clock.advance(MAX_BACKOFF_MS)
    await control.waitForStatus(1, isRunning)
  })

  it.each([
    ['requires authentication', 401, /requires authentication: add a user name and password/],
    ['denies access', 403, /denies access: grant this user the right/],
    ['does not know the path', 404, /has no stream at this path: compare the path/],
    ['is broken', 500, /responds with status 500 \(Internal Server Error\): check the camera/],
    ['is busy', 503, /responds with status 503 \(Service Unavailable\)/],
  ])('that %s fails with a reason', async (_, status, reason) => {
    const { url } = await startHttpCamera({
      answers: { '/': response => response.writeHead(status).end() },
    })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/?channel=1') }))
    const lost = await control.waitForStatus(1, isLost)
    expect(lost.reason).toMatch(reason)
    expect(lost.reason).toContain(url('/'))
  })

  it.each([
    [
      'noise',
      'video/mp4',
      Buffer.from(Uint8Array.from({ length: 50_000 }, (_, i) => (i * i * 31) % 251)),
    ],
    ['text', 'text/plain', 'No video here. '.repeat(1000)],
    ['a few bytes', 'application/octet-stream', 'No video here.'],
  ])('that sends %s fails with the media type as a reason', async (_, type, body) => {
    const { url } = await startHttpCamera({
      answers: { '/': response => response.setHeader('Content-Type', type).end(body) },
    })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/') }))
    const { reason } = await control.waitForStatus(1, isLost)
    expect(reason).toBe(
      `${url('/')} sends no video (${type}): use the address of its video stream, which is in its manual`,
    )
  })

  it.each([37, 200, 4000, 4500, 50_000])(
    'that sends a web page of %i bytes fails with this reason',
    async size => {
      const page = '<!DOCTYPE html><html><body>'.padEnd(size, 'Welcome! ')
      const { url } = await startHttpCamera({
        answers: {
          '/': response => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(page),
        },
      })
      const media = await serveMedia()
      const control = await media.connectControl()
      await control.apply(camera({ url: url('/') }))
      const { reason } = await control.waitForStatus(1, isLost)
      expect(reason).toBe(
        `${url('/')} sends a web page (text/html) instead of video: use the address of its video stream, which is in its manual`,
      )
    },
  )

  it('counts as lost if it is silent before or after its response', async () => {
    const { url, requests } = await startHttpCamera({
      answers: {
        '/never': () => {},
        '/answered': response => response.writeHead(200).flushHeaders(),
      },
    })
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    await control.apply(
      camera({ url: url('/never') }),
      camera({ url: url('/answered') }, { id: 2 }),
    )
    await vi.waitUntil(() => requests.length === 2)
    // The response may arrive after the time limit, and then counts for the next attempt.
    await vi.waitFor(
      async () => {
        clock.advance(10_000)
        expect((await control.waitForStatus(1, isLost)).reason).toContain(
          'has not responded for 10 s',
        )
        expect((await control.waitForStatus(2, isLost)).reason).toContain(
          'but has sent no picture for 10 s',
        )
      },
      { interval: 500 },
    )
  })

  it('counts as lost when its connection goes silent, and reconnects', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const behind = await startHttpCamera()
    const streams: IncomingMessage[] = []
    const { url } = await startHttpCamera({
      answers: {
        '/live.mp4': response => {
          get(behind.url('/live.mp4'), stream => {
            streams.push(stream)
            stream.pipe(response)
            response.on('close', () => stream.destroy())
          })
        },
      },
    })
    await control.apply(camera({ url: url('/live.mp4') }))
    await control.message('frame')
    // The socket remains open, but nothing is sent.
    for (const stream of streams) stream.unpipe()
    await vi.waitUntil(
      async () => {
        clock.advance(11_000)
        return control.messages.some(
          each => each.type === 'source' && each.status.state === 'reconnecting',
        )
      },
      { timeout: 60_000, interval: 300 },
    )
    const lost = control.messages.find(
      each => each.type === 'source' && each.status.state === 'reconnecting',
    )
    expect(JSON.stringify(lost)).toContain('has sent nothing for 10 s')
    const again = control.waitForNextMessage('frame', ({ discontinuity }) => discontinuity)
    clock.advance(MAX_BACKOFF_MS)
    await again
  })

  it('is abandoned immediately when the source is removed during the probe', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const { url, requests } = await startHttpCamera({ answers: { '/': () => {} } })
    await control.apply(camera({ url: url('/') }))
    await vi.waitUntil(() => requests.length > 0, { timeout: 60_000 })
    await control.apply()
    expect(await media.readMetric('eyrie_media_sources', '{state="connecting"}')).toBe(0)
  })
})
