import { describe, expect, it } from 'vitest'
import { createSenderReports } from './sender-reports.ts'

const streams = [
  { ssrc: 1, clockRate: 90_000 },
  { ssrc: 2, clockRate: 48_000 },
]
const STARTED_MS = Date.UTC(2026, 0, 1)
const NTP_EPOCH_OFFSET_S = 2_208_988_800
const PAST_OFFSET_S = 0.5

/**
 * Parses the reports: wall-clock time (ms since 1970) and stream time in seconds, without the
 * common offset into the past.
 */
function read(compound: Buffer) {
  return streams.map(({ ssrc, clockRate }, index) => {
    const report = compound.subarray(index * 28, (index + 1) * 28)
    expect([report[0], report[1], report.readUInt16BE(2)]).toEqual([0x80, 200, 6])
    expect(report.readUInt32BE(4)).toBe(ssrc)
    const ntp = report.readUInt32BE(8) - NTP_EPOCH_OFFSET_S + report.readUInt32BE(12) / 2 ** 32
    return { wallMs: ntp * 1000, seconds: report.readUInt32BE(16) / clockRate - PAST_OFFSET_S }
  })
}

describe('sender reports', () => {
  it('report the same stream time for all streams, however late one arrives', () => {
    const reports = createSenderReports()
    for (let ms = 0; ms < 1000; ms += 20) {
      reports.observe(ms * 90, STARTED_MS + ms)
      if (ms >= 300) reports.observe((ms - 300) * 90, STARTED_MS + ms)
    }
    const [picture, sound] = read(reports.build(streams, STARTED_MS + 1000)!)
    expect(picture!.wallMs).toBeCloseTo(STARTED_MS + 1000, 2)
    expect(picture!.seconds).toBeCloseTo(1, 2)
    expect(sound!.seconds).toBeCloseTo(picture!.seconds, 4)
  })

  it('ignore the delay of packets that arrive in a burst', () => {
    const reports = createSenderReports()
    for (let ms = 0; ms < 8000; ms += 40) reports.observe(ms * 90, STARTED_MS + 8000)
    reports.observe(8000 * 90, STARTED_MS + 8000)
    expect(read(reports.build(streams, STARTED_MS + 8100)!)[0]!.seconds).toBeCloseTo(8.1, 2)
  })

  it('follow a slow camera clock and a jump in stream time', () => {
    const reports = createSenderReports()
    reports.observe(0, STARTED_MS)
    reports.build(streams, STARTED_MS)
    for (let ms = 40; ms < 600_000; ms += 40) reports.observe(ms * 90 * 0.9999, STARTED_MS + ms)
    expect(read(reports.build(streams, STARTED_MS + 600_000)!)[0]!.seconds).toBeCloseTo(599.94, 1)
    reports.observe(90_000 * 590, STARTED_MS + 600_040)
    expect(read(reports.build(streams, STARTED_MS + 600_040)!)[0]!.seconds).toBeCloseTo(590, 2)
  })

  it('change the mapping slowly when packets suddenly arrive earlier', () => {
    const reports = createSenderReports()
    for (let ms = 100; ms < 1000; ms += 40) reports.observe((ms - 100) * 90, STARTED_MS + ms)
    const [picture] = read(reports.build(streams, STARTED_MS + 1000)!)
    for (let ms = 1000; ms < 6000; ms += 40) reports.observe(ms * 90, STARTED_MS + ms)
    const [, sound] = read(reports.build(streams, STARTED_MS + 6000)!)
    expect(picture!.seconds).toBeCloseTo(0.9, 2)
    expect(Math.abs(sound!.seconds - picture!.seconds - 5)).toBeLessThan(0.006)
  })

  it('never report a time in the future after a delayed first packet', () => {
    const reports = createSenderReports()
    const soundLateMs = 300
    reports.observe(0, STARTED_MS + soundLateMs)
    reports.build(streams, STARTED_MS + soundLateMs)
    for (let ms = soundLateMs; ms < 2000; ms += 40) {
      reports.observe(ms * 90, STARTED_MS + ms)
      for (const { wallMs, seconds } of read(reports.build(streams, STARTED_MS + ms)!)) {
        expect(wallMs - (seconds + PAST_OFFSET_S) * 1000).toBeLessThan(STARTED_MS)
      }
    }
  })

  it('do not exist before the first packet', () => {
    expect(createSenderReports().build(streams, STARTED_MS)).toBeUndefined()
  })
})
