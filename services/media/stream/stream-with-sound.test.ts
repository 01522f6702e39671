import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { startTamperingProxy, type Tamper } from '../../../test/fixtures/cameras/tampering-proxy.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import {
  findFlashesAndBeeps,
  measureBeepDelays,
} from '../../../test/fixtures/media/flash-and-beep.ts'
import { countFrames, probePackets, receiveStream } from '../../../test/fixtures/media/live-view.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { createChunkedBody } from '../live/stream-viewers.ts'
import type { SoundListener } from '../sound/sound-tap.ts'
import type { SoundTrack } from '../sound/sound-track.ts'
import { createStream } from './live-stream.ts'
import { addSound } from './stream-with-sound.ts'

vi.setConfig({ testTimeout: 120_000 })
const PATIENCE = { timeout: 60_000, interval: 50 }
const PCMA = 8
const SECOND = 90_000

const withoutSound: Tamper = (packet, kind) =>
  kind === 'rtp' && (packet[1]! & 0x7f) === PCMA ? [] : [packet]

describe('stream with sound', () => {
  it('inserts silence when the sound stops and continues with the sound when it returns', {
    tags: 'long',
  }, async () => {
    const proxy = await startTamperingProxy(await startRtspCamera({ audio: 'pcma', flash: true }))
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(
      createDesiredSource({ id: 1, type: 'video', address: { url: proxy.url, transport: 'tcp' } }),
    )
    await control.waitForStatus(1, ({ state }) => state === 'running')
    const morePictures = async (count: number) => {
      const pictures = () => media.readMetric('eyrie_media_packets_total', '{source="1"}')
      const before = await pictures()
      await vi.waitUntil(async () => (await pictures()) >= before + count, PATIENCE)
    }

    const watched = receiveStream(media, undefined, '/streams/1/ws?codecs=h264,aac')
    await morePictures(100)
    const { tamper } = proxy
    proxy.tamper = withoutSound
    await morePictures(150)
    proxy.tamper = tamper
    await morePictures(150)
    await control.apply()
    const { bytes } = await watched
    const received = join(media.folder, 'received.mp4')
    writeFileSync(received, bytes)

    expect(countFrames(received)).toBeGreaterThan(300)
    const sound = probePackets(received, 'a').map(({ pts }) => pts)
    const steps = sound.slice(1).map((pts, i) => pts - sound[i]!)
    expect(Math.min(...steps)).toBeGreaterThan(0)
    // The camera was mute for six seconds; delays of a busy machine are far shorter.
    expect(Math.max(...steps)).toBeLessThan(SECOND)

    const detected = await findFlashesAndBeeps(received)
    const mute = detected.flashes.filter(
      flash => !detected.beeps.some(beep => Math.abs(beep - flash) < SECOND / 4),
    )
    expect(mute.length).toBeGreaterThan(3)
    const late = measureBeepDelays({
      ...detected,
      beeps: detected.beeps.filter(beep => beep > mute.at(-1)!),
    })
    expect(late.length).toBeGreaterThan(2)
    // Sender reports of a camera on a busy machine are inexact too.
    expect(Math.abs(late.toSorted((a, b) => a - b)[late.length >> 1]!)).toBeLessThan(100)
  })

  it('ends the view, without losing fragments, when silence cannot be encoded', async () => {
    const stream = createStream(1)
    const picture = { width: 64, height: 48, pixelAspect: { numerator: 1, denominator: 1 } }
    stream.begin({ ...picture, avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d) })
    const show = (pts: number) =>
      stream.write({ pts, dts: pts, duration: 3000, keyframe: true, data: Buffer.of(1) })
    let listener: SoundListener<SoundTrack> | undefined
    const listening = addSound(stream, {
      codec: () => 'aac',
      isPresent: async () => true,
      listenToAac(next) {
        listener = next
        return () => {}
      },
      listenToOpus: () => () => {},
    })
    listener?.begin({ rate: 48_000, channels: 6, configuration: Uint8Array.of(0x11, 0xb0) })
    const body = new Response(createChunkedBody(await listening)).arrayBuffer()
    show(0)
    listener?.unit({ pts: 0, duration: 1920, data: Buffer.of(2) })
    show(4 * SECOND)
    show(5 * SECOND)
    expect(
      Buffer.from(await body)
        .toString('latin1')
        .match(/moof/g),
    ).toHaveLength(2)
    expect(stream.viewerCount()).toBe(0)
  })
})
