/** Samples at 48 kHz per frame, by the low bits of the configuration (RFC 6716, table 2). */
const SILK = [480, 960, 1920, 2880]
const HYBRID = [480, 960]
const CELT = [120, 240, 480, 960]

/** Returns the number of samples at 48 kHz in an Opus packet (RFC 6716, 3.1); 0 for an empty packet. */
export function countOpusSamples(packet: Uint8Array): number {
  const [toc, second = 0] = packet
  if (toc === undefined) return 0
  const frames = [1, 2, 2, second & 0x3f][toc & 3]!
  return frames * getFrameSamples(toc >> 3)
}

function getFrameSamples(configuration: number): number {
  if (configuration < 12) return SILK[configuration & 3]!
  if (configuration < 16) return HYBRID[configuration & 1]!
  return CELT[configuration & 3]!
}
