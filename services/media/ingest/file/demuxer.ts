/** Number of bytes from the beginning of a file that `chooseDemuxer` examines. */
export const HEAD_BYTES = 192

/** An MPEG transport stream consists of packets of this size, which begin with `G`. */
const TS_PACKET_BYTES = 188

/**
 * Returns the GStreamer demuxer, the element that separates the video from the sound, for a file by
 * its signature. Returns `parsebin`, which detects more formats, if the signature is unknown.
 */
export function chooseDemuxer(head: Uint8Array): string {
  const text = Buffer.from(head).toString('latin1')
  if (/^.{4}(ftyp|moov|mdat|free|skip|wide)/s.test(text)) return 'qtdemux'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'matroskademux'
  if (text.startsWith('FLV')) return 'flvdemux'
  if (/^RIFF.{4}AVI /s.test(text)) return 'avidemux'
  if (text[0] === 'G' && text[TS_PACKET_BYTES] === 'G') return 'tsdemux'
  return 'parsebin'
}
