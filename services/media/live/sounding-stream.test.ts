import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { wantSource } from '../../../test/fixtures/control.ts'
import { flashesAndBeeps, latenessOf } from '../../../test/fixtures/flash-and-beep.ts'
import { countFrames, probePackets, watch } from '../../../test/fixtures/live-view.ts'
import { startRtspCamera } from '../../../test/fixtures/rtsp-camera.ts'
import { type Tamper, tamperWith } from '../../../test/fixtures/rtsp-tampering.ts'
import { serveMedia } from '../../../test/fixtures/serve-media.ts'

vi.setConfig({ testTimeout: 120_000 })
const PATIENCE = { timeout: 60_000, interval: 50 }
const PCMA = 8
const SECOND = 90_000

const withoutSound: Tamper = (packet, kind) =>
  kind === 'rtp' && (packet[1]! & 0x7f) === PCMA ? [] : [packet]

test('a view goes on in silence when the sound stops, and is heard again when it comes again', async () => {
  const proxy = await tamperWith(await startRtspCamera({ audio: 'pcma', flash: true }))
  const media = await serveMedia()
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type: 'video', address: { url: proxy.url, transport: 'tcp' } }))
  await control.status(1, ({ state }) => state === 'running')
  const morePictures = async (count: number) => {
    const pictures = () => media.metric('eyrie_media_packets_total', '{source="1"}')
    const before = await pictures()
    await vi.waitUntil(async () => (await pictures()) >= before + count, PATIENCE)
  }

  const watched = watch(media, 1400, '/streams/1/ws?codecs=h264,aac')
  await morePictures(100)
  const { tamper } = proxy
  proxy.tamper = withoutSound
  await morePictures(150)
  proxy.tamper = tamper
  const { bytes } = await watched
  const received = join(media.folder, 'received.mp4')
  writeFileSync(received, bytes)

  expect(countFrames(received)).toBeGreaterThan(300)
  const sound = probePackets(received, 'a').map(({ pts }) => pts)
  const steps = sound.slice(1).map((pts, i) => pts - sound[i]!)
  expect(Math.min(...steps)).toBeGreaterThan(0)
  // The camera was mute for six seconds; what a busy machine keeps it from sending in time is far less.
  expect(Math.max(...steps)).toBeLessThan(SECOND)

  const found = await flashesAndBeeps(received)
  const mute = found.flashes.filter(flash => !found.beeps.some(beep => Math.abs(beep - flash) < SECOND / 4))
  expect(mute.length).toBeGreaterThan(3)
  const late = latenessOf({ ...found, beeps: found.beeps.filter(beep => beep > mute.at(-1)!) })
  expect(late.length).toBeGreaterThan(2)
  expect(Math.abs(late.toSorted((a, b) => a - b)[late.length >> 1]!)).toBeLessThan(40)
})
