import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createSilence } from './silence.ts'

const RATE = 48_000
const RATE_INDEX = 3
const FRAME_SAMPLES = 1024
const FRAME_TICKS = 1920

const track = (channels: number, type = 2) => ({
  rate: RATE,
  channels,
  configuration: Buffer.of(
    (type << 3) | (RATE_INDEX >> 1),
    ((RATE_INDEX & 1) << 7) | (channels << 3),
  ),
})

/** Adds an ADTS header (ISO/IEC 14496-3, 1.A.3.2). */
function toAdts(data: Uint8Array, channels: number): Buffer {
  const length = data.length + 7
  const lowComplexity = 1
  const unknownFullness = 0x7ff
  const head = [
    0xff,
    0xf1,
    (lowComplexity << 6) | (RATE_INDEX << 2),
    (channels << 6) | (length >> 11),
  ]
  const tail = [
    (length >> 3) & 0xff,
    ((length & 7) << 5) | (unknownFullness >> 6),
    (unknownFullness & 0x3f) << 2,
  ]
  return Buffer.concat([Buffer.of(...head, ...tail), data])
}

describe('silence', () => {
  it.each([1, 2])('decodes to silence with %i channels', channels => {
    const units = createSilence(track(channels), 0)!.fillTo(9 * FRAME_TICKS)
    const input = Buffer.concat(units.map(({ data }) => toAdts(data, channels)))
    const args = ['-v', 'warning', '-f', 'aac', '-i', '-', '-f', 's16le', '-']
    const { stdout, stderr } = spawnSync('ffmpeg', args, { input })
    expect(String(stderr)).not.toMatch(/error|invalid/i)
    expect(stdout.length).toBe(10 * FRAME_SAMPLES * channels * 2)
    expect(stdout.every(byte => byte === 0)).toBe(true)
  })

  it('has no gaps at any sample rate', () => {
    const silence = createSilence({ ...track(1), rate: 44_100 }, 1000)!
    const units = [...silence.fillTo(50_000), ...silence.fillTo(200_000)]
    expect(units[0]!.pts).toBe(1000)
    for (const [i, { pts }] of units.entries()) {
      if (i > 0) expect(pts).toBe(units[i - 1]!.pts + units[i - 1]!.duration)
    }
    const last = units.at(-1)!
    expect(last.pts).toBeLessThanOrEqual(200_000)
    expect(last.pts + last.duration).toBeGreaterThan(200_000)
  })

  it.each([
    ['six channels', track(6)],
    ['an unsupported profile', track(2, 5)],
  ])('is undefined for %s', (_, unknown) => {
    expect(createSilence(unknown, 0)).toBeUndefined()
  })
})
