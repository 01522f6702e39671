import { expect, test } from 'vitest'
import { createSenderReports } from './sender-reports.ts'

const streams = [
  { ssrc: 1, rate: 90_000 },
  { ssrc: 2, rate: 48_000 },
]
const BEGUN = Date.UTC(2026, 0, 1)
const NTP_BEFORE_1970_S = 2_208_988_800
const EARLIER_S = 0.5

/** What a receiver reads: when (ms since 1970), and stream time in seconds, of each stream, but for what all is told earlier. */
function read(compound: Buffer) {
  return streams.map(({ ssrc, rate }, index) => {
    const report = compound.subarray(index * 28, (index + 1) * 28)
    expect([report[0], report[1], report.readUInt16BE(2)]).toEqual([0x80, 200, 6])
    expect(report.readUInt32BE(4)).toBe(ssrc)
    const ntp = report.readUInt32BE(8) - NTP_BEFORE_1970_S + report.readUInt32BE(12) / 2 ** 32
    return { at: ntp * 1000, seconds: report.readUInt32BE(16) / rate - EARLIER_S }
  })
}

test('say of all streams that they are at the same stream time, whichever comes later', () => {
  const reports = createSenderReports()
  for (let ms = 0; ms < 1000; ms += 20) {
    reports.sent(ms * 90, BEGUN + ms)
    if (ms >= 300) reports.sent((ms - 300) * 90, BEGUN + ms)
  }
  const [picture, sound] = read(reports.about(streams, BEGUN + 1000)!)
  expect(picture!.at).toBeCloseTo(BEGUN + 1000, 2)
  expect(picture!.seconds).toBeCloseTo(1, 2)
  expect(sound!.seconds).toBeCloseTo(picture!.seconds, 4)
})

test('are not led astray by what comes late, all at once', () => {
  const reports = createSenderReports()
  for (let ms = 0; ms < 8000; ms += 40) reports.sent(ms * 90, BEGUN + 8000)
  reports.sent(8000 * 90, BEGUN + 8000)
  expect(read(reports.about(streams, BEGUN + 8100)!)[0]!.seconds).toBeCloseTo(8.1, 2)
})

test('follow a camera whose clock is slow, and one that has leapt', () => {
  const reports = createSenderReports()
  reports.sent(0, BEGUN)
  reports.about(streams, BEGUN)
  for (let ms = 40; ms < 600_000; ms += 40) reports.sent(ms * 90 * 0.9999, BEGUN + ms)
  expect(read(reports.about(streams, BEGUN + 600_000)!)[0]!.seconds).toBeCloseTo(599.94, 1)
  reports.sent(90_000 * 590, BEGUN + 600_040)
  expect(read(reports.about(streams, BEGUN + 600_040)!)[0]!.seconds).toBeCloseTo(590, 2)
})

test('hardly move where packets come sooner all at once, so that a stream told of later is not told something else', () => {
  const reports = createSenderReports()
  for (let ms = 100; ms < 1000; ms += 40) reports.sent((ms - 100) * 90, BEGUN + ms)
  const [picture] = read(reports.about(streams, BEGUN + 1000)!)
  for (let ms = 1000; ms < 6000; ms += 40) reports.sent(ms * 90, BEGUN + ms)
  const [, sound] = read(reports.about(streams, BEGUN + 6000)!)
  expect(picture!.seconds).toBeCloseTo(0.9, 2)
  expect(Math.abs(sound!.seconds - picture!.seconds - 5)).toBeLessThan(0.006)
})

test('never say of a packet that it was sent before its moment, though the first may have been held up', () => {
  const reports = createSenderReports()
  const soundLateMs = 300
  reports.sent(0, BEGUN + soundLateMs)
  reports.about(streams, BEGUN + soundLateMs)
  for (let ms = soundLateMs; ms < 2000; ms += 40) {
    reports.sent(ms * 90, BEGUN + ms)
    for (const { at, seconds } of read(reports.about(streams, BEGUN + ms)!))
      expect(at - (seconds + EARLIER_S) * 1000).toBeLessThan(BEGUN)
  }
})

test('are not there before there is anything to be told', () => {
  expect(createSenderReports().about(streams, BEGUN)).toBeUndefined()
})
