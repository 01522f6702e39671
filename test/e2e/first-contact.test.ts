// @module-tag long

import type { AddressObject } from '@eyrie/contract'
import { type LiveChannel, liveChannel } from '@eyrie/contract/console-api'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { startHttpCamera } from '../fixtures/cameras/http-camera.ts'
import { type RtspCameraOptions, startRtspCamera } from '../fixtures/cameras/rtsp-camera.ts'
import { startTamperingProxy } from '../fixtures/cameras/tampering-proxy.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { listRecordings } from '../fixtures/media/recorded-stream.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { shared } from '../fixtures/setup/shared.ts'

// The cameras that an integrator connects on the first day, without any setting but the address.

const POLL = { timeout: 120_000, interval: 250 }
const streamList = z.array(
  z.object({
    id: z.union([z.number(), z.string()]),
    state: z.string(),
    codec: z.string().optional(),
    width: z.number().optional(),
  }),
)
const login = { user: 'viewer', password: 'secret' }

/** Returns the channels as the live page shows them. */
async function listChannels(appliance: Appliance): Promise<LiveChannel[]> {
  const headers = await appliance.localSession()
  const response = await fetch(`${appliance.consoleUrl}/live/channels`, { headers })
  return z.array(liveChannel).parse(await response.json())
}

/** Waits until the only channel of the appliance matches. */
async function waitForChannel(
  appliance: Appliance,
  assert: (channel: LiveChannel | undefined) => void,
): Promise<void> {
  await vi.waitFor(async () => {
    const channels = await listChannels(appliance)
    expect(channels).toHaveLength(1)
    assert(channels[0])
  }, POLL)
}

/** Waits until the channel analyses. It may be degraded, because a busy machine drops frames. */
const waitForAnalysis = (appliance: Appliance) =>
  waitForChannel(appliance, channel => {
    expect(channel).toMatchObject({ status: expect.stringMatching(/running|degraded/) })
    expect(channel?.source.attempts).toBeUndefined()
    expect(channel?.fps).toBeGreaterThan(0)
  })

/** Waits until the live page shows the reason why the camera is not connected. */
const waitForReason = (appliance: Appliance, reason: RegExp) =>
  waitForChannel(appliance, channel => {
    expect(channel?.source.never_connected).toBe(true)
    expect(channel?.reason).toMatch(reason)
  })

/**
 * Makes a camera the only source of the appliance. Returns its id, which is also the id of its
 * stream.
 */
async function connectCamera(
  appliance: Appliance,
  address: string | AddressObject,
): Promise<number> {
  const client = createEngineClient(appliance)
  await client.deploy([
    {
      sources: [{ type: 'video', address, recording: { mode: 'continuous' } }],
      elements: [{ name: 'motion' }],
    },
  ])
  const [source] = await client.source.list()
  return source!.id
}

/** Returns the codecs of a live view, from its first bytes. */
async function readLiveCodecs({ mediaUrl, token }: Appliance, stream: number): Promise<string> {
  const aborting = new AbortController()
  const response = await fetch(`${mediaUrl}/streams/${stream}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: aborting.signal,
  })
  const { value } = await response.body!.getReader().read()
  aborting.abort()
  expect(Buffer.from(value!).toString('latin1', 4, 8)).toBe('ftyp')
  return response.headers.get('content-type')!
}

async function testCamera({ data, engineUrl }: Appliance, address: string) {
  const environment = { EYRIE_ENGINE_URL: engineUrl, EYRIE_CAMERA_PASSWORD: login.password }
  return runEyrieCommand(['camera', 'test', address], { data, environment })
}

describe('appliance without settings for the camera', { timeout: 240_000 }, () => {
  /** The port of the camera for which the appliance is started. */
  let port: number
  const appliance = shared(
    async () => {
      port = await findFreePort()
      const started = await startAppliance({ source: `rtsp://127.0.0.1:${port}/camera` })
      await started.waitForLine(/ready: open/)
      return started
    },
    ({ remove }) => remove(),
  )

  it('analyses and shows the H.265 camera of make run once it is on', async () => {
    await startRtspCamera({ port, codec: 'h265' })
    await waitForAnalysis(appliance)
    const [channel] = await listChannels(appliance)
    expect(await readLiveCodecs(appliance, channel!.source.id)).toContain('avc1')
    expect(appliance.lines.filter(line => line.includes('choose'))).toEqual([])
  })

  it.each<[title: string, camera: RtspCameraOptions]>([
    ['H.264', { codec: 'h264' }],
    ['H.264 with AAC', { codec: 'h264', audio: 'aac' }],
    ['H.264 with G.711', { codec: 'h264', audio: 'pcma' }],
    ['H.264 with B-frames', { codec: 'h264', bFrames: 2 }],
    ['H.265', { codec: 'h265' }],
    ['MJPEG', { codec: 'jpeg' }],
    ['MPEG-4', { codec: 'mpeg4' }],
  ])('analyses, shows and records an RTSP camera in %s', async (_, camera) => {
    const { url } = await startRtspCamera(camera)
    const stream = await connectCamera(appliance, url)
    await waitForAnalysis(appliance)
    expect(await readLiveCodecs(appliance, stream)).toContain('avc1')
    await waitForRecording(stream)
  })

  it.each(['/video.mjpg', '/live.mp4', '/live.ts', '/h265.ts', '/mpeg4.ts'])(
    'analyses, shows and records an HTTP camera at %s',
    async path => {
      const { url } = await startHttpCamera()
      const stream = await connectCamera(appliance, url(path))
      await waitForAnalysis(appliance)
      expect(await readLiveCodecs(appliance, stream)).toContain('avc1')
      await waitForRecording(stream)
    },
  )

  async function waitForRecording(stream: number) {
    await vi.waitFor(async () => {
      const recorded = await listRecordings(
        { url: appliance.mediaUrl },
        `?stream=${stream}`,
        appliance.token,
      )
      // Sound that is detected late begins another range.
      const ranges = recorded.flatMap(each => each.ranges)
      expect(ranges).toContainEqual(expect.objectContaining({ width: 320 }))
    }, POLL)
  }

  it('follows a camera that changes its picture size and returns with another codec', async () => {
    const { url, port, enlarge, kill } = await startRtspCamera({ codec: 'h264' })
    const stream = await connectCamera(appliance, url)
    await waitForAnalysis(appliance)
    enlarge()
    await vi.waitFor(async () => expect((await describeStream(stream))?.width).toBe(640), POLL)
    await waitForAnalysis(appliance)
    await kill()
    await waitForChannel(appliance, channel => expect(channel?.source.attempts).toBeGreaterThan(0))
    await startRtspCamera({ port, codec: 'h265' })
    await vi.waitFor(async () => {
      expect(await describeStream(stream)).toMatchObject({ state: 'running', codec: 'h265' })
    }, POLL)
    await waitForAnalysis(appliance)
  })

  async function describeStream(id: number) {
    const headers = { authorization: `Bearer ${appliance.token}` }
    const response = await fetch(`${appliance.mediaUrl}/streams`, { headers })
    return streamList.parse(await response.json()).find(each => each.id === id)
  }

  it('names B-frames and the setting that ends them, in the camera test and on the live page', async () => {
    const { url } = await startRtspCamera({ bFrames: 2 })
    const { out, err } = await testCamera(appliance, url)
    expect(out, err).toMatch(/^ {2}B-frames +yes$/m)
    expect(out).toContain('set the number of B-frames to 0 in the camera')
    await connectCamera(appliance, url)
    await waitForChannel(appliance, channel => expect(channel?.source.b_frames).toBe(true))
  })

  it.each([
    ['without credentials', {}, /requires authentication: add a user name and password/],
    [
      'with a wrong password',
      { username: 'viewer', password: 'wrong' },
      /rejects the user name or password/,
    ],
  ])('says what is wrong with an RTSP camera %s', async (_, credentials, reason) => {
    const { url } = await startRtspCamera({ login })
    await connectCamera(appliance, { url, ...credentials })
    await waitForReason(appliance, reason)
  })

  it('says that an address is a web page', async () => {
    const page = '<!DOCTYPE html><title>Camera</title>'
    const { url } = await startHttpCamera({
      answers: { '/': response => response.setHeader('Content-Type', 'text/html').end(page) },
    })
    const reason =
      /sends a web page \(text\/html\) instead of video: use the address of its video stream/
    await connectCamera(appliance, url('/'))
    await waitForReason(appliance, reason)
    expect((await testCamera(appliance, url('/'))).err).toMatch(reason)
  })

  it('says that a camera sends packets without a picture', async () => {
    const proxy = await startTamperingProxy(await startRtspCamera())
    // A middle fragment of a keyframe whose beginning is never sent (RFC 6184, FU-A).
    proxy.tamper = (packet, kind) =>
      kind === 'rtp'
        ? [Buffer.concat([packet.subarray(0, 12), Buffer.from([0x7c, 0x05, 1, 0, 0x80])])]
        : [packet]
    await connectCamera(appliance, { url: proxy.url, transport: 'tcp' })
    await waitForReason(
      appliance,
      /sends packets, but no complete picture for 5 s: restart the camera/,
    )
  })
})
