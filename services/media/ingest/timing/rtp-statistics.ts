import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'

/** An RTCP sender report (RFC 3550, section 6.4.1). */
export interface SenderReport {
  /**
   * The sender's NTP timestamp in µs since 1970. A sender without the time of day may
   * count from any moment.
   */
  cameraUs: number
  /** The same moment as an RTP timestamp: ticks of the stream's clock modulo 2³². */
  rtp: number
}

/** What GStreamer has counted about an RTP stream since the session began. */
export interface Reception {
  /** Number of packets received. */
  received: number
  /** Number of packets lost. */
  lost: number
  /** The newest sender report; undefined before the first one. */
  report: SenderReport | undefined
}

/** Name of the video depayloader in an RTSP pipeline, if the codec is known in advance. */
export const DEPAYLOADER = 'depay'

const SECONDS_FROM_1900_TO_1970 = 2_208_988_800

/**
 * Returns the statistics of a pipeline's video stream; undefined while no video arrives over RTP.
 */
export function readReception(pipeline: Pipeline): Reception | undefined {
  const stats = readSenderStats(pipeline, TICKS_PER_SECOND)
  if (stats === undefined) return undefined
  return {
    received: readCount(stats, 'packets-received'),
    lost: readCount(stats, 'packets-lost'),
    report: parseReport(stats),
  }
}

/**
 * Returns the newest sender report of the stream with this RTP clock rate; undefined
 * before the first report.
 */
export function readReport(pipeline: Pipeline, clockRate: number): SenderReport | undefined {
  const stats = readSenderStats(pipeline, clockRate)
  return stats === undefined ? undefined : parseReport(stats)
}

/**
 * Returns the statistics of the first sender with this clock rate, as GStreamer serializes them.
 */
function readSenderStats(pipeline: Pipeline, clockRate: number): string | undefined {
  const isSender = (stats: string) =>
    readField(stats, 'is-sender') === 'true' && Number(readField(stats, 'clock-rate')) === clockRate

  for (const session of findRtpSessions(pipeline)) {
    const sources = readProperty(pipeline, session, 'stats')?.split(
      'application/x-rtp-source-stats',
    )
    const sender = sources?.find(isSender)
    if (sender) return sender
  }
  return undefined
}

/**
 * Returns the names of the RTP session elements. GStreamer numbers these elements across all
 * pipelines of the process, so their names cannot be predicted. Requesting an element that does not
 * exist reveals them: the error lists all elements.
 */
function findRtpSessions(pipeline: Pipeline): string[] {
  try {
    pipeline.get('rtpsession', 'name')
    return []
  } catch (error) {
    return (error as Error).message.match(/\brtpsession\d+\b/g) ?? []
  }
}

function parseReport(stats: string): SenderReport | undefined {
  if (readField(stats, 'have-sr') !== 'true') return undefined
  return {
    cameraUs: ntpToUs(readField(stats, 'sr-ntptime') ?? '0'),
    rtp: readCount(stats, 'sr-rtptime'),
  }
}

/** Converts a 64-bit NTP timestamp to µs since 1970. */
function ntpToUs(text: string): number {
  const time = BigInt(text)
  const fraction = Number(time & 0xffff_ffffn) / 2 ** 32
  return Math.round((Number(time >> 32n) - SECONDS_FROM_1900_TO_1970 + fraction) * 1e6)
}

/**
 * Reads a property as text. GStreamer escapes nested structures once per level; the
 * backslashes are removed.
 */
function readProperty(pipeline: Pipeline, element: string, name: string): string | undefined {
  try {
    return String(pipeline.get(element, name)).replaceAll('\\', '')
  } catch {
    return undefined
  }
}

/**
 * Returns the text of a field in statistics such as `name=(type)value, …`; undefined if it is
 * missing.
 */
const readField = (stats: string, name: string) =>
  new RegExp(`[ ,]${name}=\\(\\w+\\)([^,;]+)`).exec(stats)?.[1]

const readCount = (stats: string, name: string) => Math.max(0, Number(readField(stats, name) ?? 0))
