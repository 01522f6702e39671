import type { Pipeline } from '../node-gst/index.ts'

/** How an RTP sender's time and its clock go together, as it says itself (RFC 3550, section 6.4.1). */
export interface SenderReport {
  /** The sender's clock in µs since 1970. Where it does not know the time, it may count from anywhere. */
  cameraUs: number
  /** The same moment as an RTP timestamp: ticks of 90 kHz modulo 2³². */
  rtp: number
}

/** What has come of a stream by RTP since the session began. */
export interface Reception {
  /** Packets. */
  received: number
  lost: number
  /** The newest one; undefined while none has come. */
  report: SenderReport | undefined
}

/** What the depayloader of a session by RTSP is called, where it is known beforehand. */
export const DEPAY = 'depay'

const VIDEO_CLOCK_RATE = '90000'
const SECONDS_FROM_1900_TO_1970 = 2_208_988_800

/** Undefined while there is no video by RTP in this pipeline. */
export function readReception(pipeline: Pipeline): Reception | undefined {
  for (const session of sessionsIn(pipeline)) {
    const sender = property(pipeline, session, 'stats')
      ?.split('application/x-rtp-source-stats')
      .find(each => field(each, 'is-sender') === 'true' && field(each, 'clock-rate') === VIDEO_CLOCK_RATE)
    if (sender) return receptionOf(sender)
  }
  return undefined
}

/** RTP numbers its sessions through all pipelines of the process: their names are known from a list of all there are. */
function sessionsIn(pipeline: Pipeline): string[] {
  try {
    pipeline.get('rtpsession', 'name')
    return []
  } catch (error) {
    return (error as Error).message.match(/\brtpsession\d+\b/g) ?? []
  }
}

/** RTP timestamp of the packet that the depayloader has taken last. */
export function newestRtpTime(pipeline: Pipeline): number | undefined {
  const text = property(pipeline, DEPAY, 'stats')
  const time = text && field(text, 'timestamp')
  return time ? Number(time) : undefined
}

function receptionOf(sender: string): Reception {
  const count = (name: string) => Math.max(0, Number(field(sender, name) ?? 0))
  return {
    received: count('packets-received'),
    lost: count('packets-lost'),
    report:
      field(sender, 'have-sr') === 'true'
        ? { cameraUs: ntpUs(field(sender, 'sr-ntptime') ?? '0'), rtp: count('sr-rtptime') }
        : undefined,
  }
}

/** NTP's 64 bits: seconds since 1900, and parts of one. */
function ntpUs(text: string): number {
  const time = BigInt(text)
  const parts = Number(time & 0xffff_ffffn) / 2 ** 32
  return Math.round((Number(time >> 32n) - SECONDS_FROM_1900_TO_1970 + parts) * 1e6)
}

/** Structures inside structures come as text, escaped once for each level. */
function property(pipeline: Pipeline, element: string, name: string): string | undefined {
  try {
    return String(pipeline.get(element, name)).replaceAll('\\', '')
  } catch {
    return undefined
  }
}

const field = (text: string, name: string) => new RegExp(`[ ,]${name}=\\(\\w+\\)([^,;]+)`).exec(text)?.[1]
