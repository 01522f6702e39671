// @module-tag long

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { countFrames, probePackets, receiveStream } from '../../../test/fixtures/media/live-view.ts'
import { findElementThreads } from '../../../test/fixtures/media/media-threads.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'

vi.setConfig({ testTimeout: 120_000 })
const PATIENCE = { timeout: 60_000, interval: 100 }
const WITH_SOUND = '/streams/1/ws?codecs=h264,aac'
const MILLISECOND = 90
const SECOND = 90_000
/** Long enough not to loop while it is watched. */
const CLIP_S = 30

const sounds = {
  aac: { rate: 44_100, channels: 2, coder: 'avenc_aac ! aacparse' },
  aac96: { rate: 96_000, channels: 2, coder: 'avenc_aac ! aacparse' },
  mulaw: { rate: 8_000, channels: 1, coder: 'mulawenc' },
}

interface SoundOptions {
  sound?: keyof typeof sounds
  wave?: 'ticks' | 'white-noise'
}

/** The test source emits ticks one buffer early, so buffers are small. */
function createSoundLaunch(sound: keyof typeof sounds, wave: string): string {
  const { rate, channels, coder } = sounds[sound]
  const samples = 20
  const source = `audiotestsrc wave=${wave} samplesperbuffer=${samples} num-buffers=${(CLIP_S * rate) / samples}`
  return `${source} ! audio/x-raw,rate=${rate},channels=${channels} ! ${coder} ! mux.`
}

/** Plays a file with a tick every second in a loop. */
async function serveClip({ sound, wave = 'ticks' }: SoundOptions = {}) {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mkv')
  const video = `videotestsrc num-buffers=${CLIP_S * 25} ! video/x-raw,width=160,height=120,framerate=25/1 ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! h264parse ! mux.`
  const launch = `matroskamux name=mux ! filesink location=${path} ${video} ${sound ? createSoundLaunch(sound, wave) : ''}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.trim().split(/\s+/)])
  const received = join(media.folder, 'received.mp4')
  await play(media, { type: 'inf', url: path })
  return { media, path, received }
}

async function play(
  media: Awaited<ReturnType<typeof serveMedia>>,
  source: { type: 'inf' | 'video'; url: string },
) {
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, ...source }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
}

/** Times of the ticks in the decoded sound, in 90 kHz ticks of stream time. */
function findTicks(path: string): number[] {
  const rate = 48_000
  const args = [
    '-v',
    'error',
    '-i',
    path,
    '-map',
    '0:a',
    '-ac',
    '1',
    '-ar',
    `${rate}`,
    '-f',
    's16le',
    '-',
  ]
  const pcm = execFileSync('ffmpeg', args, { maxBuffer: 1 << 28 })
  const begin = probePackets(path, 'a')[0]!.pts
  const loud = Array.from(
    { length: pcm.length / 2 },
    (_, i) => Math.abs(pcm.readInt16LE(i * 2)) > 3000,
  )
  const onsets = loud.flatMap((is, i) =>
    is && !loud.slice(Math.max(0, i - rate / 10), i).includes(true) ? [i] : [],
  )
  return onsets.map(sample => begin + (sample * SECOND) / rate)
}

const offFullSecond = (pts: number) => Math.abs(pts - Math.round(pts / SECOND) * SECOND)

const findSoundThreads = () => findElementThreads('aux-sound')

describe('sound of a live view', () => {
  it('passes AAC through unchanged with its pts', async () => {
    const { media, path, received } = await serveClip({ sound: 'aac', wave: 'white-noise' })
    const { info, bytes } = await receiveStream(media, 300, WITH_SOUND)
    writeFileSync(received, bytes)
    expect(info.codecs).toMatch(/^avc1\.[0-9a-f]{6},mp4a\.40\.2$/)
    expect(countFrames(received)).toBeGreaterThan(30)
    const hashes = (file: string): string[] => {
      const entries = [
        '-select_streams',
        'a',
        '-show_data_hash',
        'md5',
        '-show_entries',
        'packet=data_hash',
      ]
      return execFileSync('ffprobe', ['-v', 'error', ...entries, '-of', 'csv=p=0', file], {
        encoding: 'utf8',
      })
        .trim()
        .split('\n')
    }
    const sent = hashes(received)
    const original = hashes(path)
    const begin = original.indexOf(sent[0]!)
    expect(sent.slice(0, 40)).toEqual(original.slice(begin, begin + 40))
    const pts = probePackets(received, 'a').map(packet => packet.pts)
    // 1024 samples at 44.1 kHz, in a container that rounds to milliseconds.
    const steps = pts.slice(1).map((each, i) => each - pts[i]!)
    expect(Math.max(...steps.map(step => Math.abs(step - 2090)))).toBeLessThanOrEqual(MILLISECOND)
  })

  it.each(['aac', 'aac96', 'mulaw'] as const)(
    'provides %s as AAC with the original times',
    async sound => {
      const { media, received } = await serveClip({ sound })
      writeFileSync(received, (await receiveStream(media, 300, WITH_SOUND)).bytes)
      const ticks = findTicks(received)
      expect(ticks.length).toBeGreaterThan(1)
      // The encoder of the test clip has a delay.
      const encoderDelay = sound === 'mulaw' ? 0 : (1024 * SECOND) / sounds[sound].rate
      for (const pts of ticks.slice(1)) {
        expect(offFullSecond(pts - encoderDelay)).toBeLessThan(8 * MILLISECOND)
      }
    },
  )

  it.each(['aac', 'pcma'] as const)('provides the sound of a camera that sends %s', async audio => {
    const camera = await startRtspCamera({ audio })
    const media = await serveMedia()
    await play(media, { type: 'video', url: camera.url })
    const received = join(media.folder, 'received.mp4')
    const { info, bytes } = await receiveStream(media, 250, WITH_SOUND)
    writeFileSync(received, bytes)
    expect(info.codecs).toMatch(/,mp4a\.40\.2$/)
    expect(countFrames(received)).toBeGreaterThan(20)
    expect(findTicks(received).length).toBeGreaterThan(0)
    const [video, sound] = [probePackets(received), probePackets(received, 'a')]
    expect(Math.abs(video.at(-1)!.pts - sound.at(-1)!.pts)).toBeLessThan(SECOND)
  })

  it('is produced only for viewers that request it', async () => {
    const { media, received } = await serveClip({ sound: 'aac' })
    const { info, bytes } = await receiveStream(media, 20)
    writeFileSync(received, bytes)
    expect(info.codecs).not.toContain('mp4a')
    expect(probePackets(received, 'a')).toEqual([])
    expect(await findSoundThreads()).toEqual([])
    await receiveStream(media, 20, WITH_SOUND)
    await vi.waitUntil(async () => (await findSoundThreads()).length === 0, PATIENCE)
  })

  it('stops after a HEAD request, whose response only describes it', async () => {
    const camera = await startRtspCamera({ audio: 'pcma' })
    const media = await serveMedia()
    await play(media, { type: 'video', url: camera.url })
    const answer = await fetch(`${media.url}/streams/1?codecs=h264,aac`, { method: 'HEAD' })
    expect(answer.headers.get('Content-Type')).toMatch(/,mp4a\.40\.2"$/)
    await vi.waitUntil(async () => (await findSoundThreads()).length === 0, PATIENCE)
  })

  it('is omitted for a source without sound, which still shows its picture', async () => {
    const { media } = await serveClip()
    const answer = await fetch(`${media.url}/streams/1?codecs=h264,aac`)
    expect(answer.headers.get('Content-Type')).toMatch(/^video\/mp4; codecs="avc1\.[0-9a-f]{6}"$/)
    await answer.body!.cancel()
    expect((await receiveStream(media, 10, WITH_SOUND)).info.codecs).not.toContain('mp4a')
  })
})
