import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { describe, expect, it } from 'vitest'
import { createInitSegment } from '../../stream/fmp4.ts'
import { track } from '../writing/segmenter.fixture.ts'
import { findBox } from './box-reader.ts'
import { createClipTrack } from './clip-track.ts'

const HOURS = 4
const FPS = 48
const SAMPLE_COUNT = HOURS * 3600 * FPS
const DURATION = TICKS_PER_SECOND / FPS
/** Offset of the number of entries in `stts` and `ctts`, and of `stsz`. */
const ENTRY_COUNT = 12
const STSZ_SAMPLE_COUNT = 16

/** Samples that all differ in duration and composition offset from the one before. */
const samples = Array.from({ length: SAMPLE_COUNT }, (_, n) => {
  const dts = n * DURATION + (n % 2)
  const pts = dts + (n % 3)
  return { dts, pts, duration: DURATION, size: n, keyframe: n % 2 === 0, offset: 0 }
})

describe('track of a clip', () => {
  it.each([
    ['chunks of one sample', samples.map(sample => ({ offset: 0, samples: [sample] }))],
    ['one chunk', [{ offset: 0, samples }]],
  ])(`contains every sample of ${HOURS} hours in %s`, (_, chunks) => {
    const init = createInitSegment(track)
    const trak = findBox(init.subarray(init.indexOf('moov') - 4), ['trak'])
    const range = { begin: 0, end: SAMPLE_COUNT * DURATION }
    const created = createClipTrack(trak, chunks, range)
    const table = (type: string) => findBox(created, ['mdia', 'minf', 'stbl', type])

    expect(table('stts').readUInt32BE(ENTRY_COUNT)).toBe(SAMPLE_COUNT)
    expect(table('ctts').readUInt32BE(ENTRY_COUNT)).toBe(SAMPLE_COUNT)
    expect(table('stss').readUInt32BE(ENTRY_COUNT)).toBe(SAMPLE_COUNT / 2)
    expect(table('co64').readUInt32BE(ENTRY_COUNT)).toBe(chunks.length)
    const sizes = table('stsz')
    expect(sizes.readUInt32BE(STSZ_SAMPLE_COUNT)).toBe(SAMPLE_COUNT)
    expect(sizes.readUInt32BE(sizes.length - 4)).toBe(SAMPLE_COUNT - 1)
  })
})
