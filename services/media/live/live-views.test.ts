import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import {
  countFrames,
  type Packet,
  probePackets,
  receiveStream,
  receiveWholeFile,
} from '../../../test/fixtures/media/live-view.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'

const PATIENCE = { timeout: 60_000 }

type Video = Parameters<typeof makeVideo>[1]

/** Media with a video file in its folder. */
async function openVideo(video: Video) {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, video)
  return { media, path, received: join(media.folder, 'received.mp4') }
}

/** Plays a video in a loop. */
async function serveVideo(video: Video) {
  const opened = await openVideo(video)
  const control = await opened.media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: opened.path }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return opened
}

/** Plays a video a little beyond a frame and pauses until `resume` is called. */
async function servePaused(frame: number, video: Video) {
  const opened = await openVideo(video)
  const control = await opened.media.connectControl()
  const views = { grey: createViewSpec({ format: 'GRAY8' }) }
  const grant = (n: number) => control.send({ type: 'grant', source: 1, view: 'grey', n })
  await control.apply(
    createDesiredSource({ id: 1, type: 'file', url: opened.path, pacing: 'all', views }),
  )
  grant(frame)
  await control.message('frame', ({ n }) => n === frame)
  return { ...opened, resume: () => grant(Number.MAX_SAFE_INTEGER) }
}

const sorted = (packets: Packet[]) => packets.map(({ pts }) => pts).sort((a, b) => a - b)

describe('live view', () => {
  it.each([0, 2])(
    'plays a file with %i B-frames in FFmpeg with the original pts',
    async bFrames => {
      const { media, path, received } = await openVideo({ frames: 60, bFrames })
      const { info, bytes } = await receiveWholeFile(media, path)
      writeFileSync(received, bytes)

      expect(info).toMatchObject({
        width: 320,
        height: 240,
        codecs: expect.stringMatching(/^avc1\.[0-9a-f]{6}$/),
      })
      const packets = probePackets(received)
      const origin = probePackets(path)
      expect(countFrames(received)).toBe(60)
      expect(sorted(packets)).toEqual(origin.map((_, i) => i * 3000))
      expect(packets.map(({ flags }) => flags[0])).toEqual(origin.map(({ flags }) => flags[0]))
      expect(packets.every(({ dts }, i) => i === 0 || dts > packets[i - 1]!.dts)).toBe(true)
    },
  )

  it('continues without a gap when a file is looped', async () => {
    const { media, received } = await serveVideo({ frames: 20, bFrames: 2 })
    const { bytes } = await receiveStream(media, 70)
    writeFileSync(received, bytes)
    const pts = sorted(probePackets(received)).slice(0, 60)
    expect(pts).toEqual(pts.map((_, i) => pts[0]! + i * 3000))
    expect(countFrames(received)).toBe(70)
  })

  it('starts a later viewer with the keyframe of the current GOP', async () => {
    const { media, received } = await servePaused(30, { frames: 120, keyframeInterval: 120 })
    const { bytes } = await receiveStream(media, 25)
    writeFileSync(received, bytes)
    expect(probePackets(received)[0]).toMatchObject({ pts: 0, flags: expect.stringMatching(/^K/) })
  })

  it('is one endless file over plain HTTP', async () => {
    const { media, received, resume } = await servePaused(10, {
      frames: 120,
      keyframeInterval: 120,
    })
    const answer = await fetch(`${media.url}/streams/1`)
    expect(answer.headers.get('Content-Type')).toMatch(/^video\/mp4; codecs="avc1\./)
    resume()
    writeFileSync(received, Buffer.from(await answer.arrayBuffer()))
    expect(countFrames(received)).toBe(120)
  })

  it('releases a viewer that disconnects', async () => {
    const { media } = await serveVideo({})
    const leaving = new AbortController()
    const answer = await fetch(`${media.url}/streams/1`, { signal: leaving.signal })
    expect(await media.readMetric('eyrie_media_viewers', '{source="1"}')).toBe(1)
    leaving.abort()
    await expect
      .poll(() => media.readMetric('eyrie_media_viewers', '{source="1"}'), PATIENCE)
      .toBe(0)
    await expect(answer.arrayBuffer()).rejects.toThrow()
  })

  it('does not count HEAD requests and failed WebSocket upgrades as viewers', async () => {
    const { media } = await serveVideo({ frames: 20 })
    const answer = await fetch(`${media.url}/streams/1`, { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^video\/mp4; codecs="avc1\./),
    ])
    const socket = await fetch(`${media.url}/streams/1/ws`)
    expect([socket.status, await socket.json()]).toMatchObject([400, { code: 'syntax' }])
    expect(await (await fetch(`${media.url}/streams`)).json()).toMatchObject([
      { id: 1, viewers: 0 },
    ])
  })

  it('shows test pictures', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url: 'test://smpte' }))
    await control.waitForStatus(1, ({ state }) => state === 'running')
    const { bytes } = await receiveStream(media, 10)
    const received = join(media.folder, 'received.mp4')
    writeFileSync(received, bytes)
    expect(countFrames(received)).toBe(10)
  })
})

describe('snapshot of a live view', () => {
  const get = (media: ServedMedia, query = '') =>
    fetch(`${media.url}/streams/1/snapshot.jpg${query}`)

  it('is a JPEG of the latest keyframe', async () => {
    const { media } = await servePaused(30, { frames: 120, keyframeInterval: 120 })
    const answer = await get(media)
    expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
    expect(answer.headers.get('X-Pts')).toBe('0')
    const jpeg = Buffer.from(await answer.arrayBuffer())
    expect(jpeg.subarray(0, 2).toString('hex') + jpeg.subarray(-2).toString('hex')).toBe('ffd8ffd9')
  })

  it('shows the frame nearest to the requested pts', async () => {
    const { media } = await servePaused(30, { frames: 150, keyframeInterval: 150, bFrames: 2 })
    const answers = await Promise.all([0, 15_000, 43_999].map(pts => get(media, `?pts=${pts}`)))
    expect(answers.map(({ headers }) => headers.get('X-Pts'))).toEqual(['0', '15000', '45000'])
    const pictures = await Promise.all(
      answers.map(async answer => Buffer.from(await answer.arrayBuffer())),
    )
    expect(new Set(pictures.map(picture => picture.toString('base64'))).size).toBe(3)
  })

  it('has the display size of the picture', async () => {
    const { media, received } = await serveVideo({ width: 360, height: 288, pixelAspect: '16/11' })
    writeFileSync(received, Buffer.from(await (await get(media)).arrayBuffer()))
    const args = ['-v', 'error', '-show_entries', 'stream=width,height', '-of', 'csv=p=0', received]
    expect(execFileSync('ffprobe', args, { encoding: 'utf8' }).trim()).toBe('524,288')
  })

  it.each(['abc', '-1', '1.5'])('rejects pts=%s', async pts => {
    const { media } = await serveVideo({})
    const answer = await get(media, `?pts=${pts}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'syntax' })
  })
})

it.each(['/streams/7', '/streams/7/ws', '/streams/x', '/streams/7/snapshot.jpg'])(
  'responds with 404 to %s',
  async path => {
    const media = await serveMedia()
    const answer = await fetch(`${media.url}${path}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'id' })
  },
)
