import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { describe, expect, it } from 'vitest'
import { probePackets } from '../../../../test/fixtures/media/live-view.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { BEGIN_US, FPS, track, unit } from '../writing/segmenter.fixture.ts'
import { createClip } from './clip.ts'
import { createSegmentFragment, createSegmentHeader } from './segment-format.ts'

/** AAC-LC with one channel at 48 kHz. */
const sound = { rate: 48_000, channels: 1, configuration: Buffer.of(0x11, 0x88) }
const SOUND_TICKS = (1024 * TICKS_PER_SECOND) / sound.rate

/** Returns the sound between two times, in seconds of the file. */
function createSounds(fromS: number, toS: number) {
  const count = Math.floor(((toS - fromS) * TICKS_PER_SECOND) / SOUND_TICKS)
  return Array.from({ length: count }, (_, n) => ({
    pts: fromS * TICKS_PER_SECOND + n * SOUND_TICKS,
    duration: SOUND_TICKS,
    data: Buffer.alloc(10, n),
  }))
}

/** Returns a second of pictures that begins at this time of the file. */
const createPictures = (seconds: number) =>
  Array.from({ length: FPS }, (_, n) => unit(n, { seconds }))

describe('clip', () => {
  it('omits sound that would overlap earlier sound where it leaves out a gap between pictures', () => {
    const folder = createTemporaryFolder()
    const segment = join(folder, 'segment.mp4')
    const info = {
      source: 1,
      epoch: 7,
      pts: 0,
      codecs: '',
      width: track.width,
      height: track.height,
    }
    const fragments = [
      createSegmentFragment(1, createPictures(0), BEGIN_US, createSounds(0, 1.5)),
      createSegmentFragment(2, createPictures(5), BEGIN_US + 5e6, createSounds(4.5, 6)),
    ]
    const header = createSegmentHeader(info, track, sound)
    writeFileSync(segment, Buffer.concat([header, ...fragments]))

    const { head, slices, bytes } = createClip([{ path: segment }], BEGIN_US, BEGIN_US + 10e6)!
    const path = join(folder, 'clip.mp4')
    const content = Buffer.concat([header, ...fragments])
    const data = slices.map(({ offset, length }) => content.subarray(offset, offset + length))
    writeFileSync(path, Buffer.concat([head, ...data]))
    expect(Buffer.concat([head, ...data]).length).toBe(bytes)
    const times = probePackets(path, 'a').map(({ pts }) => pts)
    expect(times.length).toBeGreaterThan(80)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})
