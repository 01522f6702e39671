import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'

/** An RTCP sender report (RFC 3550, section 6.4.1). */
export interface SenderReport {
  /** The sender's NTP timestamp in µs since 1970. A sender without the time of day may count from any moment. */
  cameraUs: number
  /** The same moment as an RTP timestamp: ticks of the stream's clock modulo 2³². */
  rtp: number
}

/** Statistics of an RTP stream since the session began. */
export interface Reception {
  /** Number of packets. */
  received: number
  lost: number
  /** The newest report; undefined before the first one. */
  report: SenderReport | undefined
}

/** Name of an RTSP session's depayloader, if the codec is known in advance. */
export const DEPAYLOADER = 'depay'

const SECONDS_FROM_1900_TO_1970 = 2_208_988_800

/** Returns undefined while the pipeline receives no video over RTP. */
export function readReception(pipeline: Pipeline): Reception | undefined {
  const stats = readSenderStats(pipeline, TICKS_PER_SECOND)
  if (stats === undefined) return undefined
  return {
    received: readCount(stats, 'packets-received'),
    lost: readCount(stats, 'packets-lost'),
    report: parseReport(stats),
  }
}

/** Returns the newest report of the stream with this clock rate; undefined before the first one. */
export function readReport(pipeline: Pipeline, clockRate: number): SenderReport | undefined {
  const stats = readSenderStats(pipeline, clockRate)
  return stats === undefined ? undefined : parseReport(stats)
}

/** Returns the RTP timestamp of the packet that a depayloader has received last, and its clock rate. */
export function readNewestRtpPacket(
  pipeline: Pipeline,
  depayloader = DEPAYLOADER,
): { rtp: number; rate: number } | undefined {
  const stats = readProperty(pipeline, depayloader, 'stats')
  if (stats === undefined) return undefined
  const rtp = readField(stats, 'timestamp')
  const rate = readField(stats, 'clock_rate')
  return rtp && rate ? { rtp: Number(rtp), rate: Number(rate) } : undefined
}

/** Returns the statistics of the first sender with this clock rate, as GStreamer serializes them. */
function readSenderStats(pipeline: Pipeline, clockRate: number): string | undefined {
  for (const session of findRtpSessions(pipeline)) {
    const stats = readProperty(pipeline, session, 'stats')
      ?.split('application/x-rtp-source-stats')
      .find(
        source =>
          readField(source, 'is-sender') === 'true' && Number(readField(source, 'clock-rate')) === clockRate,
      )
    if (stats) return stats
  }
  return undefined
}

/**
 * Returns the names of the RTP session elements. GStreamer numbers them across all pipelines of the process, so that they are
 * only known from the error message for an unknown element, which lists all elements of the pipeline.
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

/** Nested structures are serialized as text that is escaped once per level. */
function readProperty(pipeline: Pipeline, element: string, name: string): string | undefined {
  try {
    return String(pipeline.get(element, name)).replaceAll('\\', '')
  } catch {
    return undefined
  }
}

const readField = (stats: string, name: string) =>
  new RegExp(`[ ,]${name}=\\(\\w+\\)([^,;]+)`).exec(stats)?.[1]

const readCount = (stats: string, name: string) => Math.max(0, Number(readField(stats, name) ?? 0))

/** Measures the share of packets lost on the network. */
export interface LossMeter {
  /** Returns the share, 0 to 1, since the previous result; undefined until five seconds have passed. */
  measure(reception: Reception, now: number): number | undefined
}

const LOSS_INTERVAL_MS = 5000

/** `now`: monotonic time in ms. */
export function createLossMeter(now: number): LossMeter {
  let last = { at: now, received: 0, lost: 0 }
  return {
    measure({ received, lost }, at) {
      if (at - last.at < LOSS_INTERVAL_MS) return undefined
      const newlyReceived = received - last.received
      const newlyLost = Math.max(0, lost - last.lost)
      last = { at, received, lost }
      const total = newlyReceived + newlyLost
      return total > 0 ? newlyLost / total : undefined
    },
  }
}
