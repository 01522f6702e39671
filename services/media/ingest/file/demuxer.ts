/** Number of bytes at the beginning of a file that `chooseDemuxer` examines. */
export const HEAD_BYTES = 192

/** Returns the GStreamer demuxer for a file by the signature in its first bytes; `parsebin`, which detects more formats, if unknown. */
export function chooseDemuxer(head: Uint8Array): string {
  const text = Buffer.from(head).toString('latin1')
  if (/^.{4}(ftyp|moov|mdat|free|skip|wide)/s.test(text)) return 'qtdemux'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'matroskademux'
  if (text.startsWith('FLV')) return 'flvdemux'
  if (/^RIFF.{4}AVI /s.test(text)) return 'avidemux'
  if (text[0] === 'G' && text[188] === 'G') return 'tsdemux'
  return 'parsebin'
}
