import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createLog } from '@eyrie/kit'
import { systemClock } from '../runtime/clock.ts'
import { createStream, type Track } from '../stream/live-stream.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createRecordings } from './recordings.ts'

// A script that needs recordings to be deleted on a disk without a single free byte. Prints a
// summary as JSON. The arguments are a folder on a small disk and the name of a scenario.

const SEGMENT_COUNT = 20
const SEGMENT_BYTES = 100_000
const SEGMENT_US = 60e6
const BEGIN_US = Date.UTC(2026, 0, 1) * 1000
const NOW_US = BEGIN_US + SEGMENT_COUNT * SEGMENT_US
const info = { source: 1, epoch: 1, pts: 0, codecs: 'avc1.42c00d', width: 320, height: 240 }
const recording = { mode: 'continuous', before_s: 5, after_s: 10, sound: true } as const
const reserve = { bytes: 1 << 20, percent: 0 }

const [root, scenario] = process.argv.slice(2) as [string, string]
const folder = join(root, 'recordings')
const fillerPath = join(root, 'something-else')

/** Writes segments of source 1. Returns the archive and the paths, oldest first. */
function writeSegments() {
  const archive = createArchive({ folder, reserve })
  const paths = Array.from({ length: SEGMENT_COUNT }, (_, n) => {
    const beginUs = BEGIN_US + n * SEGMENT_US
    const { id, path } = archive.beginSegment(info, beginUs)
    writeFileSync(path, Buffer.alloc(SEGMENT_BYTES))
    archive.closeSegment({ id, path, endUs: beginUs + SEGMENT_US, bytes: SEGMENT_BYTES })
    return path
  })
  return { archive, paths }
}

function measureFree(): number {
  const { bavail, bsize } = statfsSync(root)
  return bavail * bsize
}

/** Writes to a file until no byte is free. */
function fillDisk(): void {
  const file = openSync(fillerPath, 'w')
  for (let size = 1 << 20; size >= 1; size /= 2) {
    try {
      while (writeSync(file, Buffer.alloc(size)) === size);
    } catch {
      // A smaller block may fit.
    }
  }
  closeSync(file)
  if (measureFree() > 0) throw new Error('the disk is not full')
}

/** Applies retention once more, and describes the recordings on disk and in the index. */
async function summarize(archive: ReturnType<typeof createArchive>) {
  await archive.applyRetention(NOW_US)
  const files = readdirSync(join(folder, '1')).length
  const [range] = archive.listRanges(1, 0, Number.MAX_SAFE_INTEGER)
  return { free: measureFree(), fileBytes: files * SEGMENT_BYTES, range }
}

function prepareRecordings() {
  const stream = createStream<Track>(7)
  return createRecordings({
    data: root,
    settings: { folder, reserve_bytes: reserve.bytes, reserve_percent: 0, segment_s: 60 },
    epoch: 7,
    findPackets: () => ({ stream, sound: undefined }),
    clock: systemClock,
    log: createLog('media', 'silent'),
  })
}

const scenarios: Record<string, () => Promise<unknown>> = {
  /** The oldest segment is being played: its deletion frees nothing. */
  async played() {
    const { archive, paths } = writeSegments()
    const reader = openSync(paths[0]!, 'r')
    fillDisk()
    await archive.applyRetention(NOW_US)
    closeSync(reader)
    return summarize(archive)
  },

  /** The disk is filled when a source is configured, whose limits cannot be stored then. */
  async configured() {
    const { archive } = writeSegments()
    const recordings = prepareRecordings()
    await recordings.start()
    // The first run of retention must not be the one that frees the disk.
    while (!existsSync(join(folder, 'retention-clock.json'))) await wait(10)
    await recordings.list(undefined, 0, NOW_US)
    fillDisk()
    recordings.apply([{ id: 2, recording }])
    while (measureFree() < reserve.bytes / 2) await wait(50)
    // The next run reports no failure.
    while (recordings.alarms().length > 0) await wait(50)
    await recordings.stop()
    return summarize(archive)
  },

  /** A segment is completed on the full disk. All are deleted once there is space. */
  async completed() {
    const { archive } = writeSegments()
    const { id, path } = archive.beginSegment(info, NOW_US)
    writeFileSync(path, Buffer.alloc(SEGMENT_BYTES))
    fillDisk()
    archive.closeSegment({ id, path, endUs: NOW_US + SEGMENT_US, bytes: SEGMENT_BYTES })
    await archive.applyRetention(NOW_US)
    const { range } = await summarize(archive)
    await archive.deleteSegments(1, 0, Number.MAX_SAFE_INTEGER)
    return { range, files: readdirSync(join(folder, '1')) }
  },

  /** The index, which was closed, is opened on the full disk. */
  async opened() {
    const { archive } = writeSegments()
    archive.setPolicy(1, { keep_bytes: 5 * SEGMENT_BYTES })
    archive.shutDown()
    fillDisk()
    return summarize(createArchive({ folder, reserve }))
  },

  /** As `opened`, after a crash: a segment is still open in the index. */
  async crashed() {
    const { archive } = writeSegments()
    archive.beginSegment(info, NOW_US)
    fillDisk()
    return summarize(createArchive({ folder, reserve }))
  },

  /** Other files fill the disk when the service starts. They are deleted afterwards. */
  async occupied() {
    fillDisk()
    let refusal = ''
    try {
      createArchive({ folder, reserve })
    } catch (error) {
      refusal = (error as Error).message
    }
    const recordings = prepareRecordings()
    await recordings.start()
    recordings.apply([{ id: 1, recording }])
    const alarms = recordings.alarms()
    rmSync(fillerPath)
    while (recordings.alarms().length > 0) await wait(50)
    await recordings.stop()
    return { refusal, alarms }
  },
}

process.stdout.write(JSON.stringify(await scenarios[scenario]!()))
