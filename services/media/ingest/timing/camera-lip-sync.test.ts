// @module-tag long

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import {
  startTamperingProxy,
  type Tamper,
} from '../../../../test/fixtures/cameras/tampering-proxy.ts'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import {
  findFlashesAndBeeps,
  measureBeepDelays,
} from '../../../../test/fixtures/media/flash-and-beep.ts'
import { probePackets, receiveStream } from '../../../../test/fixtures/media/live-view.ts'
import {
  continuousRecording,
  waitForRecordedSeconds,
} from '../../../../test/fixtures/media/recorded-stream.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'

vi.setConfig({ testTimeout: 120_000 })

const PCMA = 8
/** The camera sends an eighth of a second per packet. */
const PACKETS_LATE = 3
/**
 * Sender reports of a camera on a busy machine are inexact too. Without correction, the
 * sound is 375 ms late.
 */
const MAX_LATENESS_MS = 100

/** Delays the sound, like a camera that is slow to encode it. */
function soundLate(): Tamper {
  const waiting: Buffer[] = []
  return (packet, kind) => {
    if (kind !== 'rtp' || (packet[1]! & 0x7f) !== PCMA) return [packet]
    waiting.push(Buffer.from(packet))
    return waiting.length > PACKETS_LATE ? [waiting.shift()!] : []
  }
}

/** Connects to a camera that flashes and beeps once a second, and delays the beeps. */
async function watchCamera() {
  const proxy = await startTamperingProxy(await startRtspCamera({ audio: 'pcma', flash: true }))
  proxy.tamper = soundLate()
  const media = await serveMedia()
  const control = await media.connectControl()
  const source = createDesiredSource({
    id: 1,
    type: 'video',
    address: { url: proxy.url, transport: 'tcp' },
  })
  await control.apply({ ...source, recording: continuousRecording })
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return { media, control, received: join(media.folder, 'received.mp4') }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function lateness(path: string): Promise<number> {
  const late = measureBeepDelays(await findFlashesAndBeeps(path))
  expect(late.length).toBeGreaterThan(3)
  return Math.abs(median(late))
}

describe('lip sync of a camera whose sound is delayed', () => {
  it('aligns sound and video in live streams and recordings', async () => {
    const { media, control, received } = await watchCamera()
    await control.waitForStatus(1, ({ clock }) => clock?.source === 'rtcp')
    writeFileSync(
      received,
      (await receiveStream(media, 800, '/streams/1/ws?codecs=h264,aac')).bytes,
    )
    expect(await lateness(received)).toBeLessThan(MAX_LATENESS_MS)

    const { ranges } = await waitForRecordedSeconds(media, 8)
    const { to } = ranges.at(-1)!
    const times = new URLSearchParams({ from: new Date(Date.parse(to) - 7000).toISOString(), to })
    const clip = await fetch(`${media.url}/recordings/1/clip.mp4?${times}`)
    expect(clip.status).toBe(200)
    writeFileSync(received, Buffer.from(await clip.arrayBuffer()))
    expect(await lateness(received)).toBeLessThan(MAX_LATENESS_MS)
  })

  it('never moves presentation times backwards', async () => {
    const { media, control, received } = await watchCamera()
    const shown = receiveStream(media, 800, '/streams/1/ws?codecs=h264,aac')
    await control.waitForStatus(1, ({ clock }) => clock?.source === 'rtcp')
    writeFileSync(received, (await shown).bytes)
    for (const track of ['v', 'a'] as const) {
      const pts = probePackets(received, track).map(packet => packet.pts)
      expect(Math.min(...pts.slice(1).map((each, i) => each - pts[i]!))).toBeGreaterThan(0)
    }
  })
})
