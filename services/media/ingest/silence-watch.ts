import type { Clock } from '../runtime/clock.ts'
import { SourceFault } from './origin/source-fault.ts'

/** Detects that a source no longer sends pictures. */
export interface SilenceWatch {
  /** Must be called for each packet of the coded video. */
  onPacket(): void
  /**
   * Resolves to the fault once no packet has arrived for the time limit. Rejects if the signal is
   * aborted first.
   */
  wait(signal: AbortSignal): Promise<SourceFault>
}

export interface SilenceWatchOptions {
  /** Address of the source, for the fault. */
  name: string
  limitMs: number
  clock: Clock
  /**
   * Returns the number of network packets received so far; 0 if unknown. If some are lost, the
   * others may not result in a packet of coded video.
   */
  countReceived(): number
}

/** How often a silent source is checked for network packets. */
const CHECK_INTERVAL_MS = 1000

/** What a silent source does. */
type Activity =
  /** It has sent nothing so far. */
  | 'none'
  /** It has stopped sending. */
  | 'stopped'
  /** It sends packets, but they result in no complete picture. */
  | 'packets'

const REASONS: Record<Activity, (limit: string) => string> = {
  none: limit => `has sent nothing for ${limit}: check the camera and the network to it`,
  stopped: limit =>
    `has stopped sending, nothing has arrived for ${limit}: check the camera and the network to it`,
  packets: limit =>
    `sends packets, but no complete picture for ${limit}: restart the camera if its picture is frozen, and set transport to tcp if packets are lost`,
}

export function createSilenceWatch(options: SilenceWatchOptions): SilenceWatch {
  const { name, limitMs, clock, countReceived } = options
  let lastPacketAt = clock.now()

  return {
    onPacket() {
      lastPacketAt = clock.now()
    },

    async wait(signal) {
      lastPacketAt = clock.now()
      /** Number of network packets at the beginning of the last interval. */
      let receivedBefore = 0
      let leftMs = limitMs
      while (leftMs > 0) {
        receivedBefore = countReceived()
        await clock.sleep(Math.min(leftMs, CHECK_INTERVAL_MS), signal)
        leftMs = lastPacketAt + limitMs - clock.now()
      }

      const activity = classifyActivity(receivedBefore, countReceived())
      const reason = REASONS[activity](`${limitMs / 1000} s`)
      return new SourceFault(`${name} ${reason}`, { transient: true })
    },
  }
}

/** Compares the number of network packets at the last check and now. */
function classifyActivity(receivedBefore: number, received: number): Activity {
  if (received === 0) return 'none'
  return received > receivedBefore ? 'packets' : 'stopped'
}
