import { describe, expect, test } from 'vitest'
import { opusSamples } from '../../sound/opus-duration.ts'
import { createOpusPacketizer } from './opus-packetizer.ts'

/** A packet of one CELT frame of 20 ms; what is in it does not matter. */
const frame = Uint8Array.of(31 << 3, 1, 2, 3)
const TICKS = 1800

const packetised = (...units: { pts: number; data?: Uint8Array }[]) => {
  const packetiser = createOpusPacketizer({ payloadType: 111, ssrc: 7 })
  return units.map(({ pts, data = frame }) => packetiser.packet({ pts, data }))
}

const times = (packets: (Buffer | undefined)[]) => packets.map(packet => packet?.readUInt32BE(4))
const marks = (packets: (Buffer | undefined)[]) => packets.map(packet => packet && packet[1]! >> 7)

describe('Opus as RTP packets', () => {
  test('has its pts for a timestamp, by a clock of 48 kHz, also where that has gone beyond 32 bits', () => {
    expect(times(packetised({ pts: 90_000 }))).toEqual([48_000])
    expect(times(packetised({ pts: 90_000 * 100_000 }))).toEqual([(48_000 * 100_000) % 2 ** 32])
  })

  test('goes on without the smallest gap where times are rounded or trembling', () => {
    const packets = packetised({ pts: 0 }, { pts: TICKS + 7 }, { pts: 2 * TICKS - 500 }, { pts: 3 * TICKS })
    expect(times(packets)).toEqual([0, 960, 1920, 2880])
    expect(packets.map(packet => packet!.readUInt16BE(2))).toEqual([0, 1, 2, 3])
    expect(marks(packets)).toEqual([1, 0, 0, 0])
  })

  test('begins anew after a gap, and leaves out what comes twice', () => {
    const packets = packetised({ pts: 0 }, { pts: 90_000 }, { pts: 45_000 }, { pts: 90_000 + TICKS })
    expect(times(packets)).toEqual([0, 48_000, undefined, 48_960])
    expect(marks(packets)).toEqual([1, 1, undefined, 0])
  })

  test('is as long as its first byte says', () => {
    const lengths = [0, 1, 2, 3, 12, 13, 16, 17, 18, 19].map(n => opusSamples(Uint8Array.of(n << 3)))
    expect(lengths).toEqual([480, 960, 1920, 2880, 480, 960, 120, 240, 480, 960])
    const counted = [0, 1, 2].map(code => opusSamples(Uint8Array.of((19 << 3) | code)))
    expect([...counted, opusSamples(Uint8Array.of((19 << 3) | 3, 5))]).toEqual([960, 1920, 1920, 4800])
    expect(packetised({ pts: 0, data: new Uint8Array() })).toEqual([undefined])
  })
})
