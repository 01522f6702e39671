import type { ReadonlySignal } from '@preact/signals'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import type { MetadataDelay } from './metadata-delay.ts'

export type LivePlayerState =
  | { kind: 'connecting' }
  /** Size in square pixels; `delayMs` is the distance from the newest frame that has arrived. */
  | { kind: 'playing'; width: number; height: number; delayMs: number }
  | { kind: 'lost'; reason: string }

/** Plays a live stream in a video element. It connects at once, and reconnects by itself after a failure. */
export interface LivePlayer {
  readonly state: ReadonlySignal<LivePlayerState>
  /** Releases the video element. */
  close(): void
}

export interface LivePlayerOptions {
  /** Decodes the stream. Its own picture is hidden. */
  video: HTMLVideoElement
  stream: number
  /** Requests sound. The caller unmutes the video element. */
  withSound: boolean
  /** Receives the arrival of every frame. Playback is delayed until the metadata of a frame has arrived. */
  metadataDelay: MetadataDelay
  /** Shows a frame. The image is valid only during the call; `time` is undefined if the browser cannot report it. */
  onFrame(image: CanvasImageSource, time: StreamTime | undefined): void
  /** This transport cannot play the stream here and has given up. */
  onUnavailable(reason: string): void
}

/** Creates a player for one transport: WebRTC, or fragmented MP4 over WebSocket. */
export type CreateLivePlayer = (options: LivePlayerOptions) => LivePlayer

/** Smaller changes of the displayed delay would only flicker. */
const MIN_DELAY_CHANGE_MS = 40

/** Returns the previous state if the difference is not worth rendering. */
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
