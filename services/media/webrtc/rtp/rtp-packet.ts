/**
 * Header fields that are the same in all packets of an RTP stream (RFC 3550): its payload type, and
 * its source identifier (SSRC).
 */
export interface RtpIdentity {
  payloadType: number
  ssrc: number
}

export const HEADER_BYTES = 12
const VERSION_2 = 0x80
const MARKER = 0x80
const TIMESTAMP_RANGE = 2 ** 32

/**
 * Returns a function that creates the packets of one RTP stream with consecutive sequence
 * numbers (RFC 3550, 5.1). The caller must fill in the payload, which follows the header
 * and is not initialized.
 */
export function createRtpPacketFactory({ payloadType, ssrc }: RtpIdentity) {
  let sequence = 0

  return (ticks: number, payloadBytes: number): Buffer => {
    const packet = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes)
    packet[0] = VERSION_2
    packet[1] = payloadType
    packet.writeUInt16BE(sequence, 2)
    packet.writeUInt32BE(toRtpTimestamp(ticks), 4)
    packet.writeUInt32BE(ssrc, 8)
    sequence = (sequence + 1) & 0xffff
    return packet
  }
}

/**
 * Sets the marker bit, which marks the last packet of a picture or the first one
 * after a gap in the sound.
 */
export function setMarker(packet: Buffer): void {
  packet[1]! |= MARKER
}

/** Returns ticks of an RTP clock modulo 2³². The result is never negative. */
export const toRtpTimestamp = (ticks: number) =>
  ((ticks % TIMESTAMP_RANGE) + TIMESTAMP_RANGE) % TIMESTAMP_RANGE
