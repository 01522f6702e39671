/** By what a receiver tells one RTP stream from others. */
export interface RtpIdentity {
  payloadType: number
  ssrc: number
}

export const HEADER_BYTES = 12
const VERSION_2 = 0x80
const MARKER = 0x80
const RANGE = 2 ** 32

/** Makes the packets of one RTP stream, numbered on (RFC 3550, 5.1); room for the payload lies behind the header. */
export function createRtpNumbering({ payloadType, ssrc }: RtpIdentity) {
  let sequence = 0

  return (time: number, payloadBytes: number): Buffer => {
    const bytes = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes)
    bytes[0] = VERSION_2
    bytes[1] = payloadType
    bytes.writeUInt16BE(sequence, 2)
    bytes.writeUInt32BE(rtpTimestamp(time), 4)
    bytes.writeUInt32BE(ssrc, 8)
    sequence = (sequence + 1) & 0xffff
    return bytes
  }
}

/** The end of a picture; the beginning of sound. */
export function mark(packet: Buffer): void {
  packet[1]! |= MARKER
}

/** Time in ticks of the RTP stream's clock as a packet carries it. */
export const rtpTimestamp = (time: number) => ((time % RANGE) + RANGE) % RANGE
