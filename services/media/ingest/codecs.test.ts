import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { MessageFromMedia } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { view, wantSource } from '../../../test/fixtures/control.ts'
import { serveMedia } from '../../../test/fixtures/serve-media.ts'

const FRAMES = 30
const FPS = 15
const views = { grey: view({ format: 'GRAY8', width: 64 }) }
const isFrame = (message: MessageFromMedia) => message.type === 'frame'

/** What GStreamer writes of each codec, in a container that it goes with. */
const coders = {
  h264: 'x264enc key-int-max=5 ! h264parse ! mp4mux',
  jpeg: 'jpegenc ! avimux',
  raw: 'avimux',
}
type Codec = keyof typeof coders

function makeClip(path: string, codec: Codec) {
  const picture = `video/x-raw,format=I420,width=320,height=240,framerate=${FPS}/1`
  const launch = `videotestsrc num-buffers=${FRAMES} ! ${picture} ! ${coders[codec]} ! filesink location=${path}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
}

describe.each(['file', 'inf'] as const)('a %s source', type => {
  test.each([
    ['h264', 'gst_h264'],
    ['h264', 'gst'],
    ['h264', 'ffmpeg'],
    ['jpeg', 'gst'],
    ['jpeg', 'ffmpeg'],
    ['raw', 'gst'],
    ['raw', 'ffmpeg'],
  ] as const)('of %s is decoded by %s', async (codec, decoder) => {
    const media = await serveMedia()
    const control = await media.control()
    const path = join(media.folder, 'clip')
    makeClip(path, codec)
    await control.apply(wantSource({ id: 1, type, url: path, views, decoder }))
    await control.message('frame', ({ n }) => n > 5)
    expect(await control.status(1, status => status.decoder !== undefined)).toMatchObject({
      ...{ codec, width: 320, height: 240, fps: FPS },
    })
  })

  test.each(['jpeg', 'raw'] as const)('of %s is more than gst_h264 knows, and says so', async codec => {
    const media = await serveMedia()
    const control = await media.control()
    const path = join(media.folder, 'clip')
    makeClip(path, codec)
    await control.apply(wantSource({ id: 1, type, url: path, views }))
    const { reason } = await control.status(1, ({ state }) => state === 'failed')
    expect(reason).toBe(`${path} is ${codec}, which decoder gst_h264 does not know: choose gst`)
  })
})

describe('the rate of a source', () => {
  test.each([
    ['h264', 5, FRAMES / 3],
    ['jpeg', 5, FRAMES / 3],
    ['raw', 5, FRAMES / 3],
    ['raw', 1000, FRAMES],
    ['raw', undefined, FRAMES],
  ] as const)('of %s and %s leaves so many frames', async (codec, rate, frames) => {
    const media = await serveMedia()
    const control = await media.control()
    const path = join(media.folder, 'clip')
    makeClip(path, codec)
    const source = wantSource({ id: 1, type: 'file', url: path, views, decoder: 'gst', pacing: 'all' })
    await control.apply({ ...source, ...(rate && { rate }) })
    control.send({ type: 'grant', source: 1, view: 'grey', n: 1000 })
    await control.status(1, ({ state }) => state === 'ended')
    expect(control.messages.filter(isFrame).at(-1)!.n).toBe(frames)
  })

  test('can be changed while the source plays, without an interruption', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const ball = wantSource({ id: 1, type: 'inf', url: 'test://ball', views })
    await control.apply({ ...ball, rate: 2 })
    const slow = await control.next('frame', ({ n }) => n > 1)
    await control.apply(ball)
    const fast = await control.next('frame', ({ n }) => n > slow.n + 10)
    expect((fast.pts - slow.pts) / (fast.n - slow.n)).toBeLessThan(90_000 / 10)
    const interruptions = control.messages.filter(each => each.type === 'frame' && each.discontinuity)
    expect(interruptions).toHaveLength(1)
  })
})
