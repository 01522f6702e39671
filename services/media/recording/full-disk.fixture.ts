import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { ticksToUs } from '../runtime/stream-time.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createDiskQueue } from './writing/disk-queue.ts'
import { createSegmenter } from './writing/segmenter.ts'

// A script that records until the disk is full, then on a disk that another file fills, then
// after that file was deleted. Prints a summary of each phase as JSON. The argument is a
// folder on a small disk.

const PICTURES_PER_SECOND = 5
const PICTURE_TICKS = TICKS_PER_SECOND / PICTURES_PER_SECOND
const PICTURE_BYTES = 20_000

const folder = process.argv[2]!
const archive = createArchive({
  folder: join(folder, 'recordings'),
  reserve: { bytes: 2 << 20, percent: 0 },
})
const queue = createDiskQueue(8 << 20)
const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}
const beginUs = Date.UTC(2026, 0, 1) * 1000
let disk = await archive.applyRetention(beginUs)
const segmenter = createSegmenter({
  source: 1,
  epoch: 1,
  queue,
  seconds: 2,
  nowUs: () => beginUs,
  findObstacle: () => (disk.full ? `only ${disk.freeBytes} bytes are left` : undefined),
  archive: {
    beginSegment: async (...args) => archive.beginSegment(...args),
    growSegment: async (...args) => archive.growSegment(...args),
    closeSegment: async (...args) => archive.closeSegment(...args),
  },
})

/** Number of seconds that were recorded so far. */
let recordedSeconds = 0

/** Records 100 kB per second, and applies retention after each second. */
async function record(seconds: number) {
  for (const end = recordedSeconds + seconds; recordedSeconds < end; recordedSeconds++) {
    for (let index = 0; index < PICTURES_PER_SECOND; index++) {
      const dts = (recordedSeconds * PICTURES_PER_SECOND + index) * PICTURE_TICKS
      const data = Buffer.alloc(PICTURE_BYTES, index)
      const unit = { pts: dts, dts, duration: PICTURE_TICKS, keyframe: index === 0, data }
      segmenter.addPicture({ ...unit, timeUs: beginUs + ticksToUs(dts) }, track)
    }
    await queue.drain()
    disk = await archive.applyRetention(beginUs)
  }
}

function summarize() {
  const { bavail, bsize } = statfsSync(folder)
  const ranges = archive.listRanges(1, 0, Number.MAX_SAFE_INTEGER)
  const newestUs = Date.parse(ranges.at(-1)?.to ?? '') * 1000
  const { bytes: written, dropped } = segmenter.stats()
  return {
    written,
    dropped,
    /** Whether the last five seconds are recorded. */
    newest: newestUs > beginUs + (recordedSeconds - 5) * 1e6,
    failure: segmenter.failure() ?? null,
    bytes: ranges.reduce((sum, { bytes }) => sum + bytes, 0),
    free: bavail * bsize,
  }
}

await record(120)
const retained = summarize()

/** Sizes of the files that fill the disk: each is half as large as the one before. */
const fillerSizes = Array.from({ length: 13 }, (_, index) => (6 << 20) >> index)
const toFillerPath = (size: number) => join(folder, `something-else-${size}`)

for (const size of fillerSizes) {
  try {
    writeFileSync(toFillerPath(size), Buffer.alloc(size))
  } catch {
    // The bytes that could be written remain and fill the disk.
  }
}
await record(30)
const filled = summarize()

for (const size of fillerSizes) rmSync(toFillerPath(size), { force: true })
disk = await archive.applyRetention(beginUs)
await record(10)
process.stdout.write(JSON.stringify({ kept: retained, filled, freed: summarize() }))
