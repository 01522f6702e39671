/** The fields by which a receiver distinguishes RTP streams. */
export interface RtpIdentity {
  payloadType: number
  ssrc: number
}

export const HEADER_BYTES = 12
const VERSION_2 = 0x80
const MARKER = 0x80
const TIMESTAMP_RANGE = 2 ** 32

/**
 * Returns a function that creates the packets of one RTP stream with consecutive sequence numbers (RFC 3550, 5.1). A packet has
 * `payloadBytes` of uninitialised space after its header.
 */
export function createRtpPacketFactory({ payloadType, ssrc }: RtpIdentity) {
  let sequence = 0

  return (ticks: number, payloadBytes: number): Buffer => {
    const bytes = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes)
    bytes[0] = VERSION_2
    bytes[1] = payloadType
    bytes.writeUInt16BE(sequence, 2)
    bytes.writeUInt32BE(toRtpTimestamp(ticks), 4)
    bytes.writeUInt32BE(ssrc, 8)
    sequence = (sequence + 1) & 0xffff
    return bytes
  }
}

/** Sets the marker bit: the last packet of a picture, or the first of a talk spurt. */
export function setMarker(packet: Buffer): void {
  packet[1]! |= MARKER
}

/** Ticks of the stream's RTP clock modulo 2³². */
export const toRtpTimestamp = (ticks: number) =>
  ((ticks % TIMESTAMP_RANGE) + TIMESTAMP_RANGE) % TIMESTAMP_RANGE
