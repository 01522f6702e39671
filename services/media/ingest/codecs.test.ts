// @module-tag long

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type MessageFromMedia, TICKS_PER_SECOND } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'

const FRAMES = 30
const FPS = 15
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const isFrame = (message: MessageFromMedia) => message.type === 'frame'

/** GStreamer's encoder for each codec, and a container that supports it. */
const encoders = {
  h264: 'x264enc key-int-max=5 ! h264parse ! mp4mux',
  h265: 'x265enc key-int-max=5 log-level=none ! h265parse ! mp4mux',
  jpeg: 'jpegenc ! avimux',
  raw: 'avimux',
  theora: 'theoraenc ! matroskamux',
}
type Codec = keyof typeof encoders

function makeClip(path: string, codec: Codec) {
  const picture = `video/x-raw,format=I420,width=320,height=240,framerate=${FPS}/1`
  const launch = `videotestsrc num-buffers=${FRAMES} ! ${picture} ! ${encoders[codec]} ! filesink location=${path}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
}

describe.each(['file', 'inf'] as const)('a %s source', type => {
  it.each([
    ['h264', 'gst_h264'],
    ['h264', 'gst'],
    ['h264', 'ffmpeg'],
    ['h265', 'gst_h264'],
    ['jpeg', 'gst_h264'],
    ['raw', 'gst_h264'],
    ['jpeg', 'gst'],
    ['jpeg', 'ffmpeg'],
    ['raw', 'gst'],
    ['raw', 'ffmpeg'],
  ] as const)('in %s is decoded by %s', async (codec, decoder) => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const path = join(media.folder, 'clip')
    makeClip(path, codec)
    await control.apply(createDesiredSource({ id: 1, type, url: path, views, decoder }))
    await control.message('frame', ({ n }) => n > 5)
    expect(await control.waitForStatus(1, status => status.decoder !== undefined)).toMatchObject({
      codec,
      width: 320,
      height: 240,
      fps: FPS,
    })
  })

  it('in a codec that its decoder does not support fails and suggests another', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const path = join(media.folder, 'clip')
    makeClip(path, 'theora')
    await control.apply(createDesiredSource({ id: 1, type, url: path, views, decoder: 'ffmpeg' }))
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'failed')
    expect(reason).toBe(`${path} is theora, which decoder ffmpeg does not support: choose gst_h264`)
  })
})

describe('rate of a source', () => {
  it.each([
    ['h264', 5, FRAMES / 3],
    ['jpeg', 5, FRAMES / 3],
    ['raw', 5, FRAMES / 3],
    ['raw', 1000, FRAMES],
    ['raw', undefined, FRAMES],
  ] as const)('in %s at %s fps limits a clip to %i frames', async (codec, rate, frames) => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const path = join(media.folder, 'clip')
    makeClip(path, codec)
    const source = createDesiredSource({
      id: 1,
      type: 'file',
      url: path,
      views,
      decoder: 'gst',
      pacing: 'all',
    })
    await control.apply({ ...source, ...(rate && { rate }) })
    control.send({ type: 'grant', source: 1, view: 'grey', n: 1000 })
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    expect(control.messages.filter(isFrame).at(-1)!.n).toBe(frames)
  })

  it('changes during playback without an interruption', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const ball = createDesiredSource({ id: 1, type: 'inf', url: 'test://ball', views })
    await control.apply({ ...ball, rate: 2 })
    const slow = await control.waitForNextMessage('frame', ({ n }) => n > 1)
    await control.apply(ball)
    const fast = await control.waitForNextMessage('frame', ({ n }) => n > slow.n + 10)
    expect((fast.pts - slow.pts) / (fast.n - slow.n)).toBeLessThan(TICKS_PER_SECOND / 10)
    const interruptions = control.messages.filter(
      each => each.type === 'frame' && each.discontinuity,
    )
    expect(interruptions).toHaveLength(1)
  })
})
