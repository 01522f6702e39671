import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  countFrames,
  probePackets,
  receiveWholeFile,
} from '../../../test/fixtures/media/live-view.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'

interface Clip {
  input: string
  filter: string
  bFrames: number
}

/** Plays a clip and returns the paths of the original and of what a viewer received. */
async function playClip({ input, filter, bFrames }: Clip) {
  const media = await serveMedia()
  const origin = join(media.folder, 'clip.mp4')
  const received = join(media.folder, 'received.mp4')
  const source = [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    input,
    '-vf',
    filter,
    '-fps_mode',
    'passthrough',
    '-enc_time_base',
    '1:90000',
  ]
  const coded = [
    '-c:v',
    'libx264',
    '-preset',
    'fast',
    '-bf',
    String(bFrames),
    '-video_track_timescale',
    '90000',
  ]
  execFileSync('ffmpeg', [...source, ...coded, origin])
  writeFileSync(received, (await receiveWholeFile(media, origin)).bytes)
  return { origin, received }
}

const probeTimes = (path: string) => {
  const times = probePackets(path)
    .map(({ pts }) => pts)
    .sort((a, b) => a - b)
  return times.map(pts => pts - times[0]!)
}

const probe = (path: string, entries: string) => {
  const args = [
    '-v',
    'error',
    '-select_streams',
    'v',
    '-show_entries',
    `stream=${entries}`,
    '-of',
    'json',
    path,
  ]
  return JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })).streams[0]
}

describe('timing of a live view', () => {
  it.each([0, 2])('preserves every tick at 29.97 fps with %i B-frames', async bFrames => {
    const { received } = await playClip({
      input: 'testsrc=r=30000/1001:d=2',
      filter: 'null',
      bFrames,
    })
    expect(probeTimes(received)).toEqual(
      Array.from({ length: countFrames(received) }, (_, n) => n * 3003),
    )
    expect(countFrames(received)).toBe(60)
    expect(probe(received, 'r_frame_rate')).toMatchObject({ r_frame_rate: '30000/1001' })
  })

  it.each([0, 2])(
    'preserves the times of a variable frame rate with %i B-frames',
    async bFrames => {
      const uneven = 'settb=1/90000,setpts=PTS+lt(mod(N\\,7)\\,3)*0.02/TB+gt(N\\,20)*0.7/TB'
      const { origin, received } = await playClip({
        input: 'testsrc=r=25:d=2',
        filter: uneven,
        bFrames,
      })
      const times = probeTimes(received)
      expect(times).toEqual(probeTimes(origin))
      const gaps = new Set(times.slice(1).map((time, n) => time - times[n]!))
      expect(gaps.size).toBeGreaterThan(2)
      const packets = probePackets(received)
      expect(packets.every(({ dts }, n) => n === 0 || dts > packets[n - 1]!.dts)).toBe(true)
    },
  )

  it('preserves the display aspect ratio of non-square pixels', async () => {
    const clip = { input: 'testsrc=s=704x576:r=25:d=1', filter: 'setsar=12/11', bFrames: 2 }
    const { received } = await playClip(clip)
    expect(probe(received, 'width,height,sample_aspect_ratio,display_aspect_ratio')).toMatchObject({
      width: 704,
      height: 576,
      sample_aspect_ratio: '12:11',
      display_aspect_ratio: '4:3',
    })
  })
})
