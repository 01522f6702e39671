import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countFrames, probePackets, watchWhole } from '../../../test/fixtures/live-view.ts'
import { serveMedia } from '../../../test/fixtures/serve-media.ts'

interface Clip {
  input: string
  filter: string
  bFrames: number
}

/** Plays a clip of FFmpeg's making, and resolves with its path and that of what a viewer has received. */
async function take({ input, filter, bFrames }: Clip) {
  const media = await serveMedia()
  const [origin, received] = [join(media.folder, 'clip.mp4'), join(media.folder, 'received.mp4')]
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
  writeFileSync(received, (await watchWhole(media, origin)).bytes)
  return { origin, received }
}

const shownAt = (path: string) => {
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

test.each([0, 2])('a live view of 29.97 frames a second with %i B-frames loses no tick', async bFrames => {
  const { received } = await take({ input: 'testsrc=r=30000/1001:d=2', filter: 'null', bFrames })
  expect(shownAt(received)).toEqual(Array.from({ length: countFrames(received) }, (_, n) => n * 3003))
  expect(countFrames(received)).toBe(60)
  expect(probe(received, 'r_frame_rate')).toMatchObject({ r_frame_rate: '30000/1001' })
})

test.each([0, 2])(
  'a live view of a variable rate with %i B-frames keeps every frame at its time',
  async bFrames => {
    const uneven = 'settb=1/90000,setpts=PTS+lt(mod(N\\,7)\\,3)*0.02/TB+gt(N\\,20)*0.7/TB'
    const { origin, received } = await take({ input: 'testsrc=r=25:d=2', filter: uneven, bFrames })
    const times = shownAt(received)
    expect(times).toEqual(shownAt(origin))
    const gaps = new Set(times.slice(1).map((time, n) => time - times[n]!))
    expect(gaps.size).toBeGreaterThan(2)
    const packets = probePackets(received)
    expect(packets.every(({ dts }, n) => n === 0 || dts > packets[n - 1]!.dts)).toBe(true)
  },
)

test('a live view of 4:3 with pixels that are not square is shown as 4:3', async () => {
  const clip = { input: 'testsrc=s=704x576:r=25:d=1', filter: 'setsar=12/11', bFrames: 2 }
  const { received } = await take(clip)
  expect(probe(received, 'width,height,sample_aspect_ratio,display_aspect_ratio')).toMatchObject({
    width: 704,
    height: 576,
    sample_aspect_ratio: '12:11',
    display_aspect_ratio: '4:3',
  })
})
