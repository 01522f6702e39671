// Samples at 48 kHz per frame in each mode, by the lowest bits of the configuration
// (RFC 6716, table 2).
const SILK_FRAME_SAMPLES = [480, 960, 1920, 2880]
const HYBRID_FRAME_SAMPLES = [480, 960]
const CELT_FRAME_SAMPLES = [120, 240, 480, 960]
/** The first configurations of the modes after SILK, which begins at 0. */
const FIRST_HYBRID_CONFIGURATION = 12
const FIRST_CELT_CONFIGURATION = 16

/**
 * Returns the duration of an Opus packet as a number of samples at 48 kHz; 0 for an empty packet.
 * It follows from the first bytes.
 */
export function countOpusSamples(packet: Uint8Array): number {
  const [toc] = packet
  if (toc === undefined) return 0
  const configuration = toc >> 3
  return countFrames(packet) * getFrameSamples(configuration)
}

/**
 * Returns the number of frames in a packet, from the lowest bits of its TOC byte (RFC 6716,
 * sections 3.1 and 3.2).
 */
function countFrames([toc = 0, frameCountByte = 0]: Uint8Array): number {
  const code = toc & 3
  switch (code) {
    case 0:
      return 1
    case 1:
    case 2:
      return 2
    default:
      return frameCountByte & 0x3f
  }
}

/**
 * Returns the number of samples in a frame. The configuration has the mode, the audio bandwidth and
 * the length of a frame.
 */
function getFrameSamples(configuration: number): number {
  if (configuration < FIRST_HYBRID_CONFIGURATION) {
    return SILK_FRAME_SAMPLES[configuration & 3]!
  }
  if (configuration < FIRST_CELT_CONFIGURATION) {
    return HYBRID_FRAME_SAMPLES[configuration & 1]!
  }
  return CELT_FRAME_SAMPLES[configuration & 3]!
}
