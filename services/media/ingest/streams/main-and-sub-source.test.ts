// @module-tag long

import { type SourceStatus, TICKS_PER_SECOND } from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { startTamperingProxy } from '../../../../test/fixtures/cameras/tampering-proxy.ts'
import { startTwoStreamCamera } from '../../../../test/fixtures/cameras/two-stream-camera.ts'
import {
  type ControlClient,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { receiveNumberedView } from '../../../../test/fixtures/media/numbered-stream.ts'
import { type ServedMedia, serveMedia } from '../../../../test/fixtures/media/served-media.ts'

vi.setConfig({ testTimeout: 300_000 })

const WAIT = { timeout: 120_000, interval: 100 }
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
/**
 * A picture is shown with the boxes of an analysed picture whose time differs by at
 * most this much: 5 ms.
 */
const MATCH_TICKS = TICKS_PER_SECOND / 200

/** Connects to both streams of a camera, to one of them through a proxy. */
async function watchCamera({ proxied = 'sub' }: { proxied?: 'main' | 'sub' } = {}) {
  const camera = await startTwoStreamCamera()
  const proxiedUrl = proxied === 'main' ? camera.mainUrl : camera.subUrl
  const proxy = await startTamperingProxy({ url: proxiedUrl, port: camera.port })
  const media = await serveMedia()
  const control = await media.connectControl()
  const urls = { url: camera.mainUrl, sub_url: camera.subUrl }
  const address = {
    ...urls,
    [proxied === 'main' ? 'url' : 'sub_url']: proxy.url,
    transport: 'tcp' as const,
  }
  await control.apply(createDesiredSource({ id: 1, type: 'video', address, views }))
  return { proxy, media, control }
}

/**
 * Resolves with the status of the source as soon as it matches. A busy machine may lose and
 * reconnect a stream meanwhile.
 */
async function waitForStatus(control: ControlClient, matches: (status: SourceStatus) => boolean) {
  const findStatus = () => {
    const latest = control.messages.findLast(message => message.type === 'source')
    return latest?.type === 'source' && matches(latest.status) ? latest.status : undefined
  }
  return vi.waitFor(
    () => findStatus() ?? Promise.reject(new Error('the status does not match')),
    WAIT,
  )
}

const listFrames = (control: ControlClient) =>
  control.messages.flatMap(message => (message.type === 'frame' ? [message] : []))

/** Resolves when another frame has been analysed. */
async function waitForNextFrame(control: ControlClient) {
  const count = listFrames(control).length
  await vi.waitUntil(() => listFrames(control).length > count, WAIT)
}

/**
 * Receives both live views at the same time, and returns the differences of the stream
 * time of equal pictures.
 */
async function compareStreamTimes(media: ServedMedia): Promise<number[]> {
  const [full, small] = await Promise.all(
    ['full', 'small'].map(size => receiveNumberedView(media, `/streams/1/ws?size=${size}`, 50)),
  )
  const differences: number[] = []
  for (const [number, pts] of full!.ptsByNumber) {
    const smallPts = small!.ptsByNumber.get(number)
    if (smallPts !== undefined) differences.push(Math.abs(smallPts - pts))
  }
  return differences
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

describe('source with a main and a sub stream', () => {
  it('analyses the sub stream, and shows the main stream in full and the sub stream in small views', async () => {
    const { media, control } = await watchCamera()
    const running = await waitForStatus(
      control,
      ({ state, width, sub }) =>
        state === 'running' && width !== undefined && sub?.width !== undefined,
    )
    expect(running).toMatchObject({
      width: 640,
      height: 360,
      sub: { analysed: true, width: 320, height: 180 },
    })
    await waitForNextFrame(control)

    const [full, small] = await Promise.all([
      receiveNumberedView(media, '/streams/1/ws', 10),
      receiveNumberedView(media, '/streams/1/ws?size=small', 10),
    ])
    expect([full.width, small.width]).toEqual([640, 320])
    for (const path of ['/streams/1/ws', '/streams/1', '/streams/1/snapshot.jpg']) {
      expect((await fetch(`${media.url}${path}?size=medium`)).status).toBe(400)
    }
  })

  it('gives a picture the same stream time in both streams', async () => {
    const { media, control } = await watchCamera()
    await waitForNextFrame(control)
    // The streams are aligned once the camera has sent a report for each. Pictures deviate while
    // the machine is too busy to receive packets in time, so a quiet moment is awaited.
    const expectAligned = async () => {
      const differences = await compareStreamTimes(media)
      expect(differences.length).toBeGreaterThan(5)
      expect(median(differences)).toBeLessThanOrEqual(MATCH_TICKS)
    }
    await vi.waitFor(expectAligned, { timeout: 250_000, interval: 100 })
  })

  it('continues with the main stream while the sub stream is lost, and returns to it', async () => {
    const { proxy, control } = await watchCamera()
    await waitForNextFrame(control)

    proxy.hang()
    const degraded = await waitForStatus(control, ({ sub }) => sub?.analysed === false)
    expect(degraded.reason).toMatch(
      /^the sub stream is lost, so the main stream is analysed: .*check/,
    )
    await waitForNextFrame(control)

    proxy.cut()
    await waitForStatus(
      control,
      ({ sub, reason }) => sub?.analysed === true && reason === undefined,
    )
    await waitForNextFrame(control)

    const frames = listFrames(control)
    for (const [i, { n, pts }] of frames.slice(1).entries()) {
      expect(n).toBeGreaterThan(frames[i]!.n)
      expect(pts).toBeGreaterThan(frames[i]!.pts)
    }
  })

  it('continues the analysis while the main stream is lost', async () => {
    const { proxy, control } = await watchCamera({ proxied: 'main' })
    await waitForNextFrame(control)

    proxy.hang()
    const degraded = await waitForStatus(
      control,
      ({ state, reason, sub }) =>
        state === 'running' && sub?.analysed === true && reason !== undefined,
    )
    expect(degraded.reason).toMatch(
      /^the main stream is lost, so full live views and recordings are interrupted: .*check/,
    )
    await waitForNextFrame(control)
  })
})
