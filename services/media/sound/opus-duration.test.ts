// @module-tag long

import { execFileSync } from 'node:child_process'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { playSource } from '../ingest/play-source.fixture.ts'
import { Pipeline } from '../node-gst/index.ts'
import { countOpusSamples } from './opus-duration.ts'
import { makeClip } from './sound-clip.fixture.ts'
import type { OpusTrack, SoundUnit } from './sound-track.ts'
import type { Sound } from './source-sound.ts'

vi.setConfig({ testTimeout: 120_000 })
const PATIENCE = { timeout: 60_000, interval: 50 }
const SECOND = 90_000
const MILLISECOND = 90
const RATE = 48_000

/** Long enough not to loop while a test listens, even on a busy machine. */
const CLIP_SECONDS = 30

async function playClip(sound?: 'aac' | 'mulaw' | 'opus') {
  const path = makeClip({ sound, seconds: sound ? CLIP_SECONDS : 1 })
  return { path, sound: (await playSource({ type: 'inf', url: path })).sound! }
}

/** Listens for this many units. */
async function collectUnits(sound: Sound, count: number) {
  const tracks: OpusTrack[] = []
  const units: SoundUnit[] = []
  const stop = sound.listenToOpus({
    begin: track => tracks.push(track),
    unit: unit => units.push(unit),
  })
  await vi.waitUntil(() => units.length >= count, PATIENCE)
  stop()
  return { tracks, units }
}

/** Decodes the units as an RTP receiver does and returns the times of the ticks. */
async function findTicks(units: readonly SoundUnit[]): Promise<number[]> {
  const samples: number[] = []
  const launch = `appsrc name=in format=time caps=audio/x-opus,channel-mapping-family=0,channels=1,rate=${RATE} ! opusdec ! audioconvert ! audio/x-raw,format=S16LE,channels=1,rate=${RATE} ! appsink name=out sync=false async=false`
  const ended = Promise.withResolvers<void>()
  const pipeline = new Pipeline(launch, ({ type }) => type === 'eos' && ended.resolve())
  pipeline.samples('out', { queue: 10_000, full: 'block' }, sample => {
    const bytes = Buffer.from(sample.data)
    for (let at = 0; at < bytes.length; at += 2) samples.push(bytes.readInt16LE(at))
    sample.release()
  })
  await pipeline.setState('playing')
  let at = 0
  for (const { data } of units) {
    pipeline.push('in', data, { ptsNs: Math.round((at * 1e9) / RATE) })
    at += countOpusSamples(data)
  }
  pipeline.endOfStream('in')
  await ended.promise
  await pipeline.dispose()
  const loud = samples.map(sample => Math.abs(sample) > 3000)
  const onsets = loud.flatMap((is, i) =>
    is && !loud.slice(Math.max(0, i - RATE / 10), i).includes(true) ? [i] : [],
  )
  return onsets.map(sample => units[0]!.pts + (sample * SECOND) / RATE)
}

const offFullSecond = (pts: number) => Math.abs(pts - Math.round(pts / SECOND) * SECOND)

describe('sound as Opus', () => {
  it.each(['aac', 'mulaw', 'opus'] as const)(
    'provides %s as Opus with the original times',
    async coder => {
      const { sound } = await playClip(coder)
      expect(await sound.isPresent()).toBe(true)
      const { tracks, units } = await collectUnits(sound, 200)
      expect(tracks.length).toBe(1)
      const ticks = await findTicks(units)
      expect(ticks.length).toBeGreaterThan(1)
      // The encoders of the test clip have a delay.
      const delay = { aac: (1024 * SECOND) / 44_100, mulaw: 0, opus: 6.5 * MILLISECOND }[coder]
      for (const pts of ticks.slice(1)) {
        expect(offFullSecond(pts - delay)).toBeLessThan(8 * MILLISECOND)
      }
    },
  )

  it('passes Opus through unchanged', async () => {
    const { path, sound } = await playClip('opus')
    const { units } = await collectUnits(sound, 100)
    const args = ['-v', 'error', '-i', path, '-c', 'copy', '-map', '0:a', '-f', 'data', '-']
    const original = execFileSync('ffmpeg', args, { maxBuffer: 1 << 28 })
    expect(original.includes(Buffer.concat(units.slice(0, 50).map(({ data }) => data)))).toBe(true)
  })

  it.each([
    ['aac', 'aac'],
    ['pcma', 'pcm_alaw'],
    ['opus', 'opus'],
  ] as const)('detects %s of a camera', async (audio, codec) => {
    const camera = await startRtspCamera({ audio })
    const sound = (await playSource({ type: 'video', url: camera.url })).sound!
    expect(await sound.isPresent()).toBe(true)
    expect(sound.codec()).toBe(codec)
    const { units } = await collectUnits(sound, 50)
    expect(new Set(units.slice(1).map(({ data }) => countOpusSamples(data)))).toEqual(
      new Set([960]),
    )
  })

  it('detects that a file has no sound', async () => {
    const { sound } = await playClip()
    expect(await sound.isPresent()).toBe(false)
    expect(sound.codec()).toBeUndefined()
  })
})
