import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ticksToUs } from '../runtime/stream-time.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createDiskQueue } from './writing/disk-queue.ts'
import { createSegmenter } from './writing/segmenter.ts'

/** Records until the disk is full, and then on a disk that another file fills. Prints the results as JSON. */
const folder = process.argv[2]!
const archive = createArchive({ folder: join(folder, 'recordings'), reserve: { bytes: 2 << 20, percent: 0 } })
const queue = createDiskQueue(8 << 20)
const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}
const beginUs = Date.UTC(2026, 0, 1) * 1000
let disk = archive.applyRetention(beginUs)
const segmenter = createSegmenter({
  ...{ source: 1, epoch: 1, queue, seconds: 2, nowUs: () => beginUs },
  findObstacle: () => (disk.full ? `only ${disk.freeBytes} bytes are left` : undefined),
  archive: {
    beginSegment: async (...args) => archive.beginSegment(...args),
    growSegment: async (...args) => archive.growSegment(...args),
    closeSegment: async (...args) => archive.closeSegment(...args),
  },
})

let second = 0
/** Records 100 kB per second and applies retention after each second. */
async function record(seconds: number) {
  for (const until = second + seconds; second < until; second++) {
    for (let n = 0; n < 5; n++) {
      const dts = (second * 5 + n) * 18_000
      const data = Buffer.alloc(20_000, n)
      const unit = { pts: dts, dts, duration: 18_000, keyframe: n === 0, data }
      segmenter.addPicture({ ...unit, timeUs: beginUs + ticksToUs(dts) }, track)
    }
    await queue.drain()
    disk = archive.applyRetention(beginUs)
  }
}

function summarize() {
  const { bavail, bsize } = statfsSync(folder)
  const ranges = archive.listRanges(1, 0, Number.MAX_SAFE_INTEGER)
  const newest = Date.parse(ranges.at(-1)?.to ?? '') * 1000 > beginUs + (second - 5) * 1e6
  return {
    ...{ written: segmenter.stats().bytes, dropped: segmenter.stats().dropped, newest },
    failure: segmenter.failure() ?? null,
    bytes: ranges.reduce((sum, { bytes }) => sum + bytes, 0),
    free: bavail * bsize,
  }
}

await record(120)
const retained = summarize()

const filler = join(folder, 'something-else')
for (let size = 6 << 20; size > 1 << 10; size >>= 1) {
  try {
    writeFileSync(`${filler}-${size}`, Buffer.alloc(size))
  } catch {
    // The bytes that could be written remain and fill the disk.
  }
}
await record(30)
const filled = summarize()

for (let size = 6 << 20; size > 1 << 10; size >>= 1) rmSync(`${filler}-${size}`, { force: true })
disk = archive.applyRetention(beginUs)
await record(10)
process.stdout.write(JSON.stringify({ kept: retained, filled, freed: summarize() }))
