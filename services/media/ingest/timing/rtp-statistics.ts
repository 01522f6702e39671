import type { Pipeline } from '../../node-gst/index.ts'

/** How an RTP sender's time and its clock go together, as it says itself (RFC 3550, section 6.4.1). */
export interface SenderReport {
  /** The sender's clock in µs since 1970. Where it does not know the time, it may count from anywhere. */
  cameraUs: number
  /** The same moment as an RTP timestamp: ticks of the stream's clock modulo 2³². */
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

const VIDEO_CLOCK_RATE = 90_000
const SECONDS_FROM_1900_TO_1970 = 2_208_988_800

/** Undefined while there is no video by RTP in this pipeline. */
export function readReception(pipeline: Pipeline): Reception | undefined {
  const sender = senderOf(pipeline, VIDEO_CLOCK_RATE)
  return sender === undefined ? undefined : receptionOf(sender)
}

/** The newest report of the stream with such a clock; undefined while none has come. */
export function readReport(pipeline: Pipeline, clockRate: number): SenderReport | undefined {
  const sender = senderOf(pipeline, clockRate)
  return sender === undefined ? undefined : reportOf(sender)
}

function senderOf(pipeline: Pipeline, clockRate: number): string | undefined {
  for (const session of sessionsIn(pipeline)) {
    const sender = property(pipeline, session, 'stats')
      ?.split('application/x-rtp-source-stats')
      .find(each => field(each, 'is-sender') === 'true' && Number(field(each, 'clock-rate')) === clockRate)
    if (sender) return sender
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

/** RTP timestamp of the packet that a depayloader has taken last, and how many of its ticks are a second. */
export function newestRtpPacket(
  pipeline: Pipeline,
  depayloader = DEPAY,
): { rtp: number; rate: number } | undefined {
  const text = property(pipeline, depayloader, 'stats')
  const [rtp, rate] = text ? [field(text, 'timestamp'), field(text, 'clock_rate')] : []
  return rtp && rate ? { rtp: Number(rtp), rate: Number(rate) } : undefined
}

function receptionOf(sender: string): Reception {
  return {
    received: count(sender, 'packets-received'),
    lost: count(sender, 'packets-lost'),
    report: reportOf(sender),
  }
}

function reportOf(sender: string): SenderReport | undefined {
  return field(sender, 'have-sr') === 'true'
    ? { cameraUs: ntpUs(field(sender, 'sr-ntptime') ?? '0'), rtp: count(sender, 'sr-rtptime') }
    : undefined
}

const count = (sender: string, name: string) => Math.max(0, Number(field(sender, name) ?? 0))

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

/** Measures the share of packets lost on the network. */
export interface LossMeter {
  /** The share, 0 to 1, since the previous result; undefined until five seconds have passed. */
  measure(reception: Reception, now: number): number | undefined
}

const LOSS_INTERVAL_MS = 5000

/** `now` in ms of a clock that never jumps. */
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
