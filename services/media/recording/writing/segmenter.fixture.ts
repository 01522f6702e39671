import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createArchive } from '../archive/recording-archive.ts'
import { readSegment } from '../format/segment-format.ts'
import { createDiskQueue } from './disk-queue.ts'
import { createSegmenter } from './segmenter.ts'

export const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}
export const BEGIN_US = Date.UTC(2026, 0, 1) * 1000
export const FPS = 5

/** Returns unit n of a stream with five pictures per second and a keyframe every second. */
export function unit(n: number, { seconds = 0, timeS = 0, bytes = 100 } = {}) {
  const dts = n * (TICKS_PER_SECOND / FPS) + seconds * TICKS_PER_SECOND
  return {
    ...{
      pts: dts,
      dts,
      duration: TICKS_PER_SECOND / FPS,
      keyframe: n % FPS === 0,
      data: Buffer.alloc(bytes, n),
    },
    timeUs: BEGIN_US + (n / FPS + seconds + timeS) * 1e6,
  }
}

/** Creates a segmenter with its own archive, which is deleted after the test. */
export function createTestSegmenter({
  queueBytes = 1 << 20,
  seconds = 60,
  obstacle = () => undefined as string | undefined,
  nowUs = () => 0 as number,
} = {}) {
  const folder = createTemporaryFolder()
  const archive = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
  onTestFinished(archive.shutDown)
  const queue = createDiskQueue(queueBytes)
  const segmenter = createSegmenter({
    ...{ source: 1, epoch: 7, queue, seconds, findObstacle: obstacle, nowUs },
    archive: {
      beginSegment: async (...args) => archive.beginSegment(...args),
      growSegment: async (...args) => archive.growSegment(...args),
      closeSegment: async (...args) => archive.closeSegment(...args),
    },
  })
  const ranges = () =>
    archive
      .listRanges(1, 0, Number.MAX_SAFE_INTEGER)
      .map(({ from, to }) => [from, to].map(toSeconds))
  const files = () => readdirSync(join(folder, '1')).filter(name => name.endsWith('mp4'))
  const contents = () => files().map(name => readSegment(join(folder, '1', name))!)
  return { folder, segmenter, queue, ranges, files, contents }
}

/** Returns seconds since the beginning of the recording. */
const toSeconds = (text: string) => Math.round((Date.parse(text) - BEGIN_US / 1000) / 100) / 10
