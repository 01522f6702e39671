// @module-tag long

import { once } from 'node:events'
import type { DesiredSource, MessageFromMedia, StreamInfo } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import {
  type RtspCameraOptions,
  startRtspCamera,
} from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'

type Codec = NonNullable<RtspCameraOptions['codec']>

const PATIENCE = { timeout: 60_000, interval: 100 }
const MAX_BACKOFF_MS = 30_000
const CODECS: Codec[] = ['h264', 'h265', 'jpeg', 'mpeg4']
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const isLost = ({ state }: { state: string }) => state === 'reconnecting'

const camera = (url: string, more: Partial<DesiredSource> = {}) =>
  createDesiredSource({ id: 1, type: 'video', address: { url, transport: 'tcp' }, views, ...more })

/**
 * Watches the live view of source 1 as a browser without support for H.265. Returns the init
 * messages received so far.
 */
async function watch(mediaUrl: string): Promise<{ infos: StreamInfo[]; countFragments(): number }> {
  const socket = new WebSocket(`${mediaUrl.replace('http', 'ws')}/streams/1/ws`)
  onTestFinished(() => socket.close())
  const infos: StreamInfo[] = []
  let fragmentCount = 0
  socket.on('message', (data, isBinary) => {
    if (isBinary) fragmentCount++
    else infos.push(JSON.parse(String(data)))
  })
  await once(socket, 'open')
  return { infos, countFragments: () => fragmentCount }
}

function expectIncreasingTime(messages: readonly MessageFromMedia[]) {
  const frames = messages.filter(message => message.type === 'frame')
  for (const [i, frame] of frames.entries()) {
    if (i > 0) expect(frame.pts).toBeGreaterThan(frames[i - 1]!.pts)
  }
}

describe('RTSP camera with the default decoder', { timeout: 180_000 }, () => {
  it.each(CODECS)('in %s is analysed, and shown in H.264', async codec => {
    const { url } = await startRtspCamera({ codec })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera(url))
    await vi.waitUntil(
      () => control.messages.some(each => each.type === 'frame' && each.n > 5),
      PATIENCE,
    )
    expect(await control.waitForStatus(1, ({ state }) => state === 'running')).toMatchObject({
      codec,
      width: 320,
      height: 240,
    })
    const viewer = await watch(media.url)
    await vi.waitUntil(() => viewer.countFragments() > 5, PATIENCE)
    expect(viewer.infos[0]).toMatchObject({
      codecs: expect.stringMatching(/^avc1/),
      width: 320,
      height: 240,
    })
  })

  it('continues with another codec after each restart of the camera', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    let { url, port, kill } = await startRtspCamera({ codec: 'h264' })
    await control.apply(camera(url))
    const viewer = await watch(media.url)
    await vi.waitUntil(() => viewer.countFragments() > 0, PATIENCE)
    for (const codec of ['h265', 'mpeg4', 'h264', 'jpeg', 'h265', 'h264'] as const) {
      await kill()
      await control.waitForStatus(1, isLost)
      ;({ kill } = await startRtspCamera({ port, codec }))
      const messagesBefore = control.messages.length
      // An attempt may have come before the camera was ready.
      await vi.waitUntil(async () => {
        const { next_try_at: nextTryAt } = await control.waitForStatus(1, () => true)
        if (nextTryAt) clock.advance(MAX_BACKOFF_MS)
        return control.messages.slice(messagesBefore).some(each => each.type === 'frame')
      }, PATIENCE)
      await control.waitForStatus(1, status => status.codec === codec)
      const fragmentsBefore = viewer.countFragments()
      await vi.waitUntil(() => viewer.countFragments() > fragmentsBefore + 5, PATIENCE)
    }
    expectIncreasingTime(control.messages)
  })

  it.each(['h264', 'h265', 'jpeg'] as const)(
    'in %s continues to be analysed and shown when it changes the picture size',
    async codec => {
      const media = await serveMedia()
      const control = await media.connectControl()
      const { url, enlarge } = await startRtspCamera({ codec })
      await control.apply(camera(url))
      const viewer = await watch(media.url)
      await vi.waitUntil(() => viewer.countFragments() > 0, PATIENCE)
      enlarge()
      await vi.waitUntil(() => viewer.infos.at(-1)?.width === 640, PATIENCE)
      await control.waitForStatus(1, ({ width, height }) => width === 640 && height === 480)
      const { n } = await control.waitForNextMessage('frame')
      await control.waitForNextMessage('frame', frame => frame.n > n + 20)
      const fragmentsBefore = viewer.countFragments()
      await vi.waitUntil(() => viewer.countFragments() > fragmentsBefore + 5, PATIENCE)
      expectIncreasingTime(control.messages)
    },
  )
})
