import type { AccessUnit } from '../../stream/fmp4.ts'
import type { VideoTrack } from '../../stream/sample-entry.ts'
import { createRtpPacketFactory, HEADER_BYTES, type RtpIdentity, setMarker } from './rtp-packet.ts'

/** With RTP header, SRTP tag, UDP and IPv6 headers, a packet fits the minimum MTU of IPv6 (1280 bytes). */
const MAX_PAYLOAD_BYTES = 1188
const NRI_MASK = 0x60
const TYPE_MASK = 0x1f
const ACCESS_UNIT_DELIMITER = 9
const FU_A = 28
const FU_START = 0x80
const FU_END = 0x40

export interface H264Packetizer {
  /** Sets the parameter sets that precede every keyframe, and the size of NAL unit lengths. */
  setTrack(track: Pick<VideoTrack, 'avcC'>): void
  /** Returns the packets of one access unit, in order. Their RTP timestamp is the unit's `pts` modulo 2³². */
  packetize(unit: Pick<AccessUnit, 'pts' | 'keyframe' | 'data'>): Buffer[]
}

/** Packetizes H.264 (RFC 6184, packetization mode 1): single NAL units, and FU-A fragments for larger ones. */
export function createH264Packetizer(identity: RtpIdentity): H264Packetizer {
  const createPacket = createRtpPacketFactory(identity)
  let parameterSets: Uint8Array[] = []
  let lengthBytes = 4

  function* packetizeNal(nal: Uint8Array, pts: number): Generator<Buffer> {
    if (nal.length <= MAX_PAYLOAD_BYTES) {
      const packet = createPacket(pts, nal.length)
      packet.set(nal, HEADER_BYTES)
      yield packet
      return
    }
    const type = nal[0]! & TYPE_MASK
    const maxFragmentBytes = MAX_PAYLOAD_BYTES - 2
    for (let start = 1; start < nal.length; start += maxFragmentBytes) {
      const fragment = nal.subarray(start, start + maxFragmentBytes)
      const startBit = start === 1 ? FU_START : 0
      const endBit = start + maxFragmentBytes >= nal.length ? FU_END : 0
      const packet = createPacket(pts, fragment.length + 2)
      packet[HEADER_BYTES] = (nal[0]! & NRI_MASK) | FU_A
      packet[HEADER_BYTES + 1] = type | startBit | endBit
      packet.set(fragment, HEADER_BYTES + 2)
      yield packet
    }
  }

  return {
    setTrack({ avcC }) {
      parameterSets = parseParameterSets(avcC)
      lengthBytes = (avcC[4]! & 3) + 1
    },

    packetize({ pts, keyframe, data }) {
      const nals = [...(keyframe ? parameterSets : []), ...parseNalUnits(data, lengthBytes)]
      const packets = nals.flatMap(nal => [...packetizeNal(nal, pts)])
      const last = packets.at(-1)
      if (last) setMarker(last)
      return packets
    },
  }
}

/** SPS and PPS of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). */
function parseParameterSets(avcC: Uint8Array): Uint8Array[] {
  const view = new DataView(avcC.buffer, avcC.byteOffset, avcC.byteLength)
  const sets: Uint8Array[] = []
  let offset = 5
  for (const countMask of [0x1f, 0xff]) {
    const count = (avcC[offset++] ?? 0) & countMask
    for (let i = 0; i < count; i++) {
      const length = view.getUint16(offset)
      sets.push(avcC.slice(offset + 2, offset + 2 + length))
      offset += 2 + length
    }
  }
  return sets
}

/** Omits access unit delimiters, which are redundant with RTP's timestamp and marker bit. */
function* parseNalUnits(data: Uint8Array, lengthBytes: number): Generator<Uint8Array> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  for (let offset = 0; offset + lengthBytes <= bytes.length; ) {
    const length = bytes.readUIntBE(offset, lengthBytes)
    const nal = bytes.subarray(offset + lengthBytes, offset + lengthBytes + length)
    offset += lengthBytes + length
    if (nal.length > 0 && (nal[0]! & TYPE_MASK) !== ACCESS_UNIT_DELIMITER) yield nal
  }
}
