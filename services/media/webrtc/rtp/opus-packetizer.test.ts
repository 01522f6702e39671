import { describe, expect, it } from 'vitest'
import { countOpusSamples } from '../../sound/opus-duration.ts'
import { createOpusPacketizer } from './opus-packetizer.ts'

/** A packet with one CELT frame of 20 ms and arbitrary content. */
const frame = Uint8Array.of(31 << 3, 1, 2, 3)
const TICKS = 1800

const packetizeAll = (...units: { pts: number; data?: Uint8Array }[]) => {
  const packetizer = createOpusPacketizer({ payloadType: 111, ssrc: 7 })
  return units.map(({ pts, data = frame }) => packetizer.packetize({ pts, data }))
}

const toTimestamps = (packets: (Buffer | undefined)[]) =>
  packets.map(packet => packet?.readUInt32BE(4))
const toMarkers = (packets: (Buffer | undefined)[]) =>
  packets.map(packet => packet && packet[1]! >> 7)

describe('Opus packetizer', () => {
  it('uses the pts at 48 kHz modulo 2³² as timestamp', () => {
    expect(toTimestamps(packetizeAll({ pts: 90_000 }))).toEqual([48_000])
    expect(toTimestamps(packetizeAll({ pts: 90_000 * 100_000 }))).toEqual([
      (48_000 * 100_000) % 2 ** 32,
    ])
  })

  it('sends gapless timestamps despite jitter', () => {
    const packets = packetizeAll(
      { pts: 0 },
      { pts: TICKS + 7 },
      { pts: 2 * TICKS - 500 },
      { pts: 3 * TICKS },
    )
    expect(toTimestamps(packets)).toEqual([0, 960, 1920, 2880])
    expect(packets.map(packet => packet!.readUInt16BE(2))).toEqual([0, 1, 2, 3])
    expect(toMarkers(packets)).toEqual([1, 0, 0, 0])
  })

  it('sets the marker after a gap and drops overlapping sound', () => {
    const packets = packetizeAll(
      { pts: 0 },
      { pts: 90_000 },
      { pts: 45_000 },
      { pts: 90_000 + TICKS },
    )
    expect(toTimestamps(packets)).toEqual([0, 48_000, undefined, 48_960])
    expect(toMarkers(packets)).toEqual([1, 1, undefined, 0])
  })

  it('derives the duration from the TOC byte', () => {
    const lengths = [0, 1, 2, 3, 12, 13, 16, 17, 18, 19].map(n =>
      countOpusSamples(Uint8Array.of(n << 3)),
    )
    expect(lengths).toEqual([480, 960, 1920, 2880, 480, 960, 120, 240, 480, 960])
    const counted = [0, 1, 2].map(code => countOpusSamples(Uint8Array.of((19 << 3) | code)))
    expect([...counted, countOpusSamples(Uint8Array.of((19 << 3) | 3, 5))]).toEqual([
      960, 1920, 1920, 4800,
    ])
    expect(packetizeAll({ pts: 0, data: new Uint8Array() })).toEqual([undefined])
  })
})
