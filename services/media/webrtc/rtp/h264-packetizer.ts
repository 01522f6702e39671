import type { AccessUnit } from '../../stream/fmp4.ts'
import type { VideoTrack } from '../../stream/sample-entry.ts'
import { createRtpPacketFactory, HEADER_BYTES, type RtpIdentity, setMarker } from './rtp-packet.ts'

/**
 * With RTP header, SRTP tag, UDP and IPv6 headers, the packet fits the minimum MTU
 * of IPv6 (1280 bytes).
 */
const MAX_PAYLOAD_BYTES = 1188

// NAL unit header, the first byte of a NAL unit (RFC 6184, section 1.3).
/** `nal_ref_idc`: the importance of the NAL unit for the decoding of other pictures. */
const REF_IDC_MASK = 0x60
const TYPE_MASK = 0x1f
/** `nal_unit_type` of an access unit delimiter (ITU-T H.264, table 7-1). */
const TYPE_ACCESS_UNIT_DELIMITER = 9

// Fragmentation unit FU-A (RFC 6184, section 5.8): FU indicator and FU header, one byte each, and a
// part of the NAL unit.
const TYPE_FU_A = 28
const FU_PREFIX_BYTES = 2
const FU_START_BIT = 0x80
const FU_END_BIT = 0x40

// AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 5.3.3.1).
/** Offset of the byte with `lengthSizeMinusOne` in its lowest two bits. */
const LENGTH_SIZE_OFFSET = 4
const LENGTH_SIZE_MASK = 0x03
/**
 * Offset of the list of SPS. A list starts with a byte for the number of sets. The
 * list of PPS follows.
 */
const PARAMETER_SETS_OFFSET = 5
/** The three bits above `numOfSequenceParameterSets` are reserved. */
const SPS_COUNT_MASK = 0x1f
const PPS_COUNT_MASK = 0xff
/** Size of the length before each parameter set. */
const SET_LENGTH_BYTES = 2

/** Divides H.264 pictures into RTP packets (RFC 6184), which WebRTC sends to viewers. */
export interface H264Packetizer {
  /**
   * Sets the codec configuration of the following units. Its parameter sets are sent
   * before each keyframe.
   */
  setTrack(track: Pick<VideoTrack, 'avcC'>): void
  /** Returns the RTP packets of a picture, in order. Their timestamp is the `pts` modulo 2³². */
  packetize(unit: Pick<AccessUnit, 'pts' | 'keyframe' | 'data'>): Buffer[]
}

/**
 * Packetizes H.264 in packetization mode 1 (RFC 6184): one packet per NAL unit, or FU-A fragments
 * of a large NAL unit.
 */
export function createH264Packetizer(identity: RtpIdentity): H264Packetizer {
  const createPacket = createRtpPacketFactory(identity)
  let parameterSets: Uint8Array[] = []
  /** Size of the length field before each NAL unit. */
  let lengthBytes = 4

  function* packetizeNal(nal: Uint8Array, pts: number): Generator<Buffer> {
    if (nal.length <= MAX_PAYLOAD_BYTES) {
      const packet = createPacket(pts, nal.length)
      packet.set(nal, HEADER_BYTES)
      yield packet
      return
    }

    const type = nal[0]! & TYPE_MASK
    const maxFragmentBytes = MAX_PAYLOAD_BYTES - FU_PREFIX_BYTES
    // The NAL unit header is not repeated: FU indicator and FU header contain its fields.
    for (let start = 1; start < nal.length; start += maxFragmentBytes) {
      const fragment = nal.subarray(start, start + maxFragmentBytes)
      const startBit = start === 1 ? FU_START_BIT : 0
      const endBit = start + maxFragmentBytes >= nal.length ? FU_END_BIT : 0

      const packet = createPacket(pts, fragment.length + FU_PREFIX_BYTES)
      packet[HEADER_BYTES] = (nal[0]! & REF_IDC_MASK) | TYPE_FU_A
      packet[HEADER_BYTES + 1] = type | startBit | endBit
      packet.set(fragment, HEADER_BYTES + FU_PREFIX_BYTES)
      yield packet
    }
  }

  return {
    setTrack({ avcC }) {
      parameterSets = parseParameterSets(avcC)
      lengthBytes = (avcC[LENGTH_SIZE_OFFSET]! & LENGTH_SIZE_MASK) + 1
    },

    packetize({ pts, keyframe, data }) {
      const nals = [...parseNalUnits(data, lengthBytes)]
      if (keyframe) nals.unshift(...parameterSets)
      const packets = nals.flatMap(nal => [...packetizeNal(nal, pts)])
      const last = packets.at(-1)
      if (last) setMarker(last)
      return packets
    },
  }
}

/** Returns SPS and PPS from an AVCDecoderConfigurationRecord. */
function parseParameterSets(avcC: Uint8Array): Uint8Array[] {
  const view = new DataView(avcC.buffer, avcC.byteOffset, avcC.byteLength)
  const sets: Uint8Array[] = []
  let offset = PARAMETER_SETS_OFFSET
  for (const countMask of [SPS_COUNT_MASK, PPS_COUNT_MASK]) {
    const count = (avcC[offset] ?? 0) & countMask
    offset++
    for (let i = 0; i < count; i++) {
      const length = view.getUint16(offset)
      offset += SET_LENGTH_BYTES
      sets.push(avcC.slice(offset, offset + length))
      offset += length
    }
  }
  return sets
}

/**
 * Yields the NAL units of a picture. Omits access unit delimiters, which are redundant with RTP's
 * timestamp and marker bit.
 */
function* parseNalUnits(data: Uint8Array, lengthBytes: number): Generator<Uint8Array> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  let offset = 0
  while (offset + lengthBytes <= bytes.length) {
    const length = bytes.readUIntBE(offset, lengthBytes)
    const nal = bytes.subarray(offset + lengthBytes, offset + lengthBytes + length)
    offset += lengthBytes + length

    const isDelimiter = (nal[0]! & TYPE_MASK) === TYPE_ACCESS_UNIT_DELIMITER
    if (nal.length > 0 && !isDelimiter) yield nal
  }
}
