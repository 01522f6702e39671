import type { ReadonlySignal } from '@preact/signals'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import type { MetadataDelay } from './metadata-delay.ts'

/** What a live player currently does, for display in the console. */
export type LivePlayerState =
  | { kind: 'connecting' }
  /**
   * The size is in square pixels. `delayMs` is the age of the displayed frame, relative to the
   * newest received frame.
   */
  | { kind: 'playing'; width: number; height: number; delayMs: number }
  | { kind: 'lost'; reason: string }

/**
 * Plays a live stream in a video element. It starts to connect when it is created, and
 * reconnects after a failure.
 */
export interface LivePlayer {
  readonly state: ReadonlySignal<LivePlayerState>
  /** Releases the video element. */
  close(): void
}

export interface LivePlayerOptions {
  /** Decodes the stream. Its own picture is hidden. */
  video: HTMLVideoElement
  stream: number
  /** Whether to play sound. The caller unmutes the video element. */
  withSound: boolean
  /**
   * Must be notified of every received frame. Tells for how long to delay playback, so that the
   * metadata of a frame has arrived.
   */
  metadataDelay: MetadataDelay
  /**
   * Called for each frame to draw. The image is valid only during the call. `time` is undefined if
   * the browser does not report it.
   */
  onFrame(image: CanvasImageSource, time: StreamTime | undefined): void
  /**
   * Called when this transport cannot play the stream in this browser and network,
   * and has stopped trying.
   */
  onUnavailable(reason: string): void
}

/** Creates a player for one transport: WebRTC, or fragmented MP4 over WebSocket. */
export type CreateLivePlayer = (options: LivePlayerOptions) => LivePlayer

/** Smaller changes would make the displayed delay flicker. */
const MIN_DELAY_CHANGE_MS = 40

/**
 * Returns the next state, or the previous one if the two look the same, so that
 * nothing is rendered.
 */
export function updatePlaying(
  previous: LivePlayerState,
  next: LivePlayerState & { kind: 'playing' },
): LivePlayerState {
  const isSame =
    previous.kind === 'playing' &&
    previous.width === next.width &&
    previous.height === next.height &&
    Math.abs(previous.delayMs - next.delayMs) < MIN_DELAY_CHANGE_MS
  return isSame ? previous : next
}
