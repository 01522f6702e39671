import { describe, expect, it } from 'vitest'
import { createH264Packetizer } from './h264-packetizer.ts'
import { toRtpTimestamp } from './rtp-packet.ts'

const sps = Uint8Array.of(0x67, 0x42, 0xc0, 0x1f, 1, 2, 3)
const pps = Uint8Array.of(0x68, 0xce, 4)
const avcC = Buffer.from([
  1,
  0x42,
  0xc0,
  0x1f,
  0xff,
  0xe1,
  0,
  sps.length,
  ...sps,
  1,
  0,
  pps.length,
  ...pps,
])

function nal(header: number, bytes: number): Buffer {
  return Buffer.from([header, ...Array.from({ length: bytes - 1 }, (_, i) => i & 0xff)])
}

function lengthPrefixed(...nals: Uint8Array[]): Buffer {
  return Buffer.concat(
    nals.flatMap(each => [Buffer.from([0, 0, each.length >> 8, each.length & 0xff]), each]),
  )
}

function packetizeOne(unit: { pts?: number; keyframe?: boolean; data: Uint8Array }): Buffer[] {
  const packetizer = createH264Packetizer({ payloadType: 109, ssrc: 7 })
  packetizer.setTrack({ avcC })
  return packetizer.packetize({ pts: 0, keyframe: false, ...unit })
}

/** Reassembles NAL units from single NAL unit packets and FU-A fragments. */
function depacketize(packets: Buffer[]): Buffer[] {
  const nals: Buffer[] = []
  for (const packet of packets) {
    const payload = packet.subarray(12)
    if ((payload[0]! & 0x1f) !== 28) {
      nals.push(payload)
    } else if (payload[1]! & 0x80) {
      nals.push(
        Buffer.concat([
          Buffer.of((payload[0]! & 0xe0) | (payload[1]! & 0x1f)),
          payload.subarray(2),
        ]),
      )
    } else {
      nals.push(Buffer.concat([nals.pop()!, payload.subarray(2)]))
    }
  }
  return nals
}

describe('H.264 packetizer', () => {
  it('preserves NAL units of any size', () => {
    const nals = [
      nal(0x06, 30),
      nal(0x41, 1188),
      nal(0x41, 1189),
      nal(0x41, 2373),
      nal(0x41, 2374),
      nal(0x41, 9000),
    ]
    const packets = packetizeOne({ data: lengthPrefixed(...nals) })
    expect(depacketize(packets)).toEqual(nals)
    expect(Math.max(...packets.map(({ length }) => length))).toBe(1200)
  })

  it('sends the parameter sets before a keyframe and omits access unit delimiters', () => {
    const data = lengthPrefixed(Uint8Array.of(9, 0x10), nal(0x65, 2000))
    expect(depacketize(packetizeOne({ keyframe: true, data }))).toEqual([
      Buffer.from(sps),
      Buffer.from(pps),
      nal(0x65, 2000),
    ])
  })

  it('marks the last packet of a unit and numbers packets across units', () => {
    const packetizer = createH264Packetizer({ payloadType: 109, ssrc: 7 })
    packetizer.setTrack({ avcC })
    const data = lengthPrefixed(nal(0x41, 3000))
    const packets = [0, 3000].flatMap(pts => packetizer.packetize({ pts, keyframe: false, data }))
    expect(packets.map(packet => packet[1]! >> 7)).toEqual([0, 0, 1, 0, 0, 1])
    expect(packets.map(packet => packet.readUInt16BE(2))).toEqual([0, 1, 2, 3, 4, 5])
    expect(packets.map(packet => [packet[1]! & 0x7f, packet.readUInt32BE(8)])).toEqual(
      packets.map(() => [109, 7]),
    )
  })

  it('uses the pts modulo 2³² as timestamp', () => {
    const pts = 5 * 2 ** 32 + 123_456
    expect(packetizeOne({ pts, data: lengthPrefixed(nal(0x41, 5)) })[0]!.readUInt32BE(4)).toBe(
      123_456,
    )
    expect(toRtpTimestamp(2 ** 32 - 1)).toBe(2 ** 32 - 1)
  })
})
