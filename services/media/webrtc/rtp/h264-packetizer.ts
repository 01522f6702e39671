import type { AccessUnit } from '../../stream/fmp4.ts'
import type { VideoTrack } from '../../stream/sample-entry.ts'
import { createRtpNumbering, HEADER_BYTES, mark, type RtpIdentity } from './rtp-packet.ts'

/** Lets an RTP packet with its SRTP tag, UDP and IPv6 headers pass wherever the Internet goes. */
const PAYLOAD_BYTES = 1188
const NRI_MASK = 0x60
const TYPE_MASK = 0x1f
const ACCESS_UNIT_DELIMITER = 9
const FU_A = 28
const FU_START = 0x80
const FU_END = 0x40

export interface H264Packetizer {
  /** What an `avcC` says: parameter sets, sent ahead of every keyframe, and how long the lengths of NAL units are. */
  begin(track: Pick<VideoTrack, 'avcC'>): void
  /** The packets of one access unit, in order. Their timestamp is the unit's pts modulo 2³². */
  packets(unit: Pick<AccessUnit, 'pts' | 'keyframe' | 'data'>): Buffer[]
}

/** RTP packets of H.264 (RFC 6184, packetization-mode 1): single NAL units, and FU-A for what is too large for one packet. */
export function createH264Packetizer(identity: RtpIdentity): H264Packetizer {
  const packet = createRtpNumbering(identity)
  let parameterSets: Uint8Array[] = []
  let lengthBytes = 4

  function* packed(nal: Uint8Array, pts: number): Generator<Buffer> {
    if (nal.length <= PAYLOAD_BYTES) {
      const whole = packet(pts, nal.length)
      whole.set(nal, HEADER_BYTES)
      yield whole
      return
    }
    const type = nal[0]! & TYPE_MASK
    const room = PAYLOAD_BYTES - 2
    for (let at = 1; at < nal.length; at += room) {
      const part = nal.subarray(at, at + room)
      const fragment = packet(pts, part.length + 2)
      fragment[HEADER_BYTES] = (nal[0]! & NRI_MASK) | FU_A
      fragment[HEADER_BYTES + 1] = type | (at === 1 ? FU_START : 0) | (at + room >= nal.length ? FU_END : 0)
      fragment.set(part, HEADER_BYTES + 2)
      yield fragment
    }
  }

  return {
    begin({ avcC }) {
      parameterSets = parameterSetsOf(avcC)
      lengthBytes = (avcC[4]! & 3) + 1
    },

    packets({ pts, keyframe, data }) {
      const nals = [...(keyframe ? parameterSets : []), ...nalUnits(data, lengthBytes)]
      const packets = nals.flatMap(nal => [...packed(nal, pts)])
      const last = packets.at(-1)
      if (last) mark(last)
      return packets
    },
  }
}

/** SPS and PPS of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). */
function parameterSetsOf(avcC: Uint8Array): Uint8Array[] {
  const view = new DataView(avcC.buffer, avcC.byteOffset, avcC.byteLength)
  const sets: Uint8Array[] = []
  let at = 5
  for (const mask of [0x1f, 0xff]) {
    const count = (avcC[at++] ?? 0) & mask
    for (let i = 0; i < count; i++) {
      const length = view.getUint16(at)
      sets.push(avcC.slice(at + 2, at + 2 + length))
      at += 2 + length
    }
  }
  return sets
}

/** Without access unit delimiters, which RTP's timestamps and marker replace. */
function* nalUnits(data: Uint8Array, lengthBytes: number): Generator<Uint8Array> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at + lengthBytes <= bytes.length; ) {
    const length = bytes.readUIntBE(at, lengthBytes)
    const nal = bytes.subarray(at + lengthBytes, at + lengthBytes + length)
    at += lengthBytes + length
    if (nal.length > 0 && (nal[0]! & TYPE_MASK) !== ACCESS_UNIT_DELIMITER) yield nal
  }
}
