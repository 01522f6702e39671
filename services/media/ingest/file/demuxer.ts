/**
 * The GStreamer element that takes a file apart, judged by its first bytes: containers name themselves there.
 * `parsebin` finds out by itself for what is not known here.
 */
export function chooseDemuxer(head: Uint8Array): string {
  const text = Buffer.from(head).toString('latin1')
  if (/^.{4}(ftyp|moov|mdat|free|skip|wide)/s.test(text)) return 'qtdemux'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'matroskademux'
  if (text.startsWith('FLV')) return 'flvdemux'
  if (/^RIFF.{4}AVI /s.test(text)) return 'avidemux'
  if (text[0] === 'G' && text[188] === 'G') return 'tsdemux'
  return 'parsebin'
}

/** How much of a file `demuxerFor` wants to see. */
export const HEAD_BYTES = 192
