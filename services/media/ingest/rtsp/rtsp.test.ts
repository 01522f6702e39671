import { once } from 'node:events'
import type { AddressObject, MessageFromMedia } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  connectControl,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { startTcpServer } from '../../../../test/fixtures/network/tcp-server.ts'
import { startMediaProcess } from '../../../../test/fixtures/processes/media-process.ts'

const RESTARTS = process.env.EYRIE_LONG === '1' ? 20 : 5
const MAX_BACKOFF_MS = 30_000
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const camera = (address: AddressObject) =>
  createDesiredSource({ id: 1, type: 'video', address, views })
const isFrame = (message: MessageFromMedia) => message.type === 'frame'

describe('RTSP camera', () => {
  it.each(['tcp', 'udp', 'auto'] as const)('is decoded over %s', async transport => {
    const { url } = await startRtspCamera()
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url, transport }))
    await control.message('frame', ({ n }) => n > 5)
    expect(await control.waitForStatus(1, ({ state }) => state === 'running')).toMatchObject({
      width: 320,
      height: 240,
      fps: 25,
      codec: 'h264',
    })
    expect((await fetch(`${media.url}/streams/1/snapshot.jpg`)).status).toBe(200)
  })

  it('reconnects after each of many restarts, with increasing stream time', {
    tags: 'long',
    timeout: 180_000,
  }, async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    let { url, port, kill } = await startRtspCamera()
    await control.apply(camera({ url, transport: 'tcp' }))
    await control.waitForNextMessage('frame')
    for (let time = 1; time <= RESTARTS; time++) {
      await kill()
      const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
      expect(reason).toContain(`rtsp://127.0.0.1:${port}/camera`)
      ;({ kill } = await startRtspCamera({ port }))
      clock.advance(MAX_BACKOFF_MS)
      expect(await control.waitForNextMessage('frame')).toMatchObject({ discontinuity: true })
      await control.waitForStatus(1, ({ state }) => state === 'running')
    }
    const frames = control.messages.filter(isFrame)
    for (const [i, frame] of frames.entries()) {
      if (i === 0) continue
      expect(frame.n).toBeGreaterThan(frames[i - 1]!.n)
      expect(frame.pts).toBeGreaterThan(frames[i - 1]!.pts)
      expect(frame.time).toBeGreaterThan(frames[i - 1]!.time)
    }
    expect(frames.filter(({ discontinuity }) => discontinuity)).toHaveLength(RESTARTS + 1)
  })

  it('is shown again to connected viewers after an interruption', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const { url, port, kill } = await startRtspCamera()
    await control.apply(camera({ url }))
    await control.waitForStatus(1, ({ state }) => state === 'running')
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    await once(socket, 'message')
    await kill()
    await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    const shown = once(socket, 'message')
    await startRtspCamera({ port })
    clock.advance(MAX_BACKOFF_MS)
    const [fragment] = await shown
    expect(fragment.toString('latin1', 4, 8)).toBe('moof')
  })

  it('reconnects with back-off after the connection is refused', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const { url, port, kill } = await startRtspCamera()
    await kill()
    await control.apply(camera({ url }))
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(reason).toBe(
      `rtsp://127.0.0.1:${port}/camera cannot be reached: check that the camera is on and that host and port are correct`,
    )
    const [stream] = (await (await fetch(`${media.url}/streams`)).json()) as object[]
    expect(stream).toMatchObject({ state: 'reconnecting', reason, attempts: expect.any(Number) })
    await startRtspCamera({ port })
    clock.advance(MAX_BACKOFF_MS)
    await control.waitForStatus(1, ({ state }) => state === 'running')
  })

  it('counts as lost after five seconds without a response', async () => {
    const silent = await startTcpServer()
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    await control.apply(camera({ url: `rtsp://127.0.0.1:${silent.port}/x`, transport: 'tcp' }))
    await vi.waitUntil(() => silent.connections.length > 0)
    clock.advance(5_000)
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(reason).toContain('has sent nothing for 5 s')
  })

  it('fails with a reason if it has no stream at the path', async () => {
    const { url } = await startRtspCamera()
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url.replace('/camera', '/garden') }))
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(reason).toContain('/garden has no stream at this path')
  })

  it('in H.265 is decoded by every decoder', async () => {
    const { url } = await startRtspCamera({ codec: 'h265' })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(
      { ...camera({ url }), decoder: 'gst' },
      { ...camera({ url }), id: 2, decoder: 'ffmpeg' },
      { ...camera({ url }), id: 3, decoder: 'gst_h264' },
    )
    for (const id of [1, 2, 3]) {
      await control.message('frame', frame => frame.source === id && frame.n > 5)
    }
  })
})

describe('password of an RTSP camera', () => {
  const login = { user: 'viewer', password: 'p%40ss: word' }

  it('is accepted in a separate field and in the URL', async () => {
    const { url } = await startRtspCamera({ login })
    const media = await serveMedia()
    const control = await media.connectControl()
    const { user, password } = login
    const inside = url.replace(
      '//',
      `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`,
    )
    await control.apply(camera({ url, username: user, password }), {
      ...camera({ url: inside }),
      id: 2,
    })
    await control.waitForStatus(1, ({ state }) => state === 'running')
    await control.waitForStatus(2, ({ state }) => state === 'running')
  })

  it('is requested by the reason if the address has no user name', async () => {
    const { url } = await startRtspCamera({ login })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url }))
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(reason).toBe(
      `${url} requires authentication: add a user name and password to the source's address`,
    )
  })

  it('appears neither in the reason nor in logs when it is wrong', async () => {
    const { url } = await startRtspCamera({ login })
    const media = await startMediaProcess({ EYRIE_LOG_LEVEL: 'debug' })
    onTestFinished(() => media.stop())
    const control = await connectControl(media.url)
    const inside = url.replace('//', '//viewer:xyzzy-inside@')
    await control.apply(camera({ url, username: 'viewer', password: 'xyzzy-field' }), {
      ...camera({ url: inside }),
      id: 2,
    })
    for (const id of [1, 2]) {
      const { reason } = await control.waitForStatus(id, ({ state }) => state === 'reconnecting')
      expect(reason).toContain('rejects the user name or password')
    }
    const output = [
      ...media.lines,
      JSON.stringify(control.messages),
      await (await fetch(`${media.url}/streams`)).text(),
    ]
    expect(output.join('\n')).not.toContain('xyzzy')
  })
})
