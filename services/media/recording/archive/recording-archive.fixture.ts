import { readFileSync, writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { createSegmentFragment, createSegmentHeader } from '../format/segment-format.ts'
import { type ArchiveOptions, createArchive } from './recording-archive.ts'

export const HOUR_US = 3600e6
export const NOON_US = Date.UTC(2026, 0, 1, 12) * 1000
export const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}
export const UNIT_BYTES = 1000
/** Offset of the number of samples from the type of a `trun` box. */
const TRUN_SAMPLE_COUNT = 8

/** Opens an archive, which is closed at the end of the test. */
export function open(folder: string, options: Partial<ArchiveOptions> = {}) {
  const archive = createArchive({ folder, reserve: { bytes: 0, percent: 0 }, ...options })
  onTestFinished(archive.shutDown)
  return archive
}

export const createInfo = (source: number) => ({
  ...{ source, epoch: 1, pts: 0, codecs: 'avc1.42c00d', width: 320, height: 240 },
})

/** Writes a segment with one picture per second, each in its own fragment. */
export function write(
  archive: ReturnType<typeof open>,
  source: number,
  beginUs: number,
  { seconds = 60, close = true } = {},
) {
  const info = createInfo(source)
  const { id, path } = archive.beginSegment(info, beginUs)
  const fragments = Array.from({ length: seconds }, (_, n) => {
    const unit = { pts: n * 90_000, dts: n * 90_000, duration: 90_000, keyframe: n % 2 === 0 }
    return createSegmentFragment(
      n + 1,
      [{ ...unit, data: Buffer.alloc(UNIT_BYTES, n) }],
      beginUs + n * 1e6,
    )
  })
  const bytes = Buffer.concat([createSegmentHeader(info, track), ...fragments])
  writeFileSync(path, bytes)
  if (close) archive.closeSegment({ id, path, endUs: beginUs + seconds * 1e6, bytes: bytes.length })
  return { path, bytes: bytes.length }
}

/** Damages a segment so that it cannot be read. */
export function damageFile(path: string): void {
  const bytes = readFileSync(path)
  bytes.writeUInt32BE(0xffffffff, bytes.indexOf('trun') + TRUN_SAMPLE_COUNT)
  writeFileSync(path, bytes)
}
