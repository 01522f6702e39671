import type { ReadonlySignal } from '@preact/signals'
import type { Lateness } from './metadata-delay.ts'

export type LiveViewState =
  | { kind: 'connecting' }
  | { kind: 'playing'; width: number; height: number; delayMs: number }
  | { kind: 'lost'; reason: string }

/** A moment of a stream: pts in 90 kHz ticks, within an epoch of media. */
export interface StreamMoment {
  epoch: number
  pts: number
}

/** A live stream that is being played, by whatever way it comes. It begins at once and comes back by itself. */
export interface LiveView {
  /** Width and height in square pixels, as the picture is to be seen; how far it is behind the newest that has come. */
  readonly state: ReadonlySignal<LiveViewState>
  /** Lets go of the video element, so that another view may take it. */
  close(): void
}

export interface LiveViewOptions {
  /** Decodes; its own picture is not what people see. */
  video: HTMLVideoElement
  stream: number
  /** Whether the sound is to come along. It is for others to unmute the video element. */
  sounding: boolean
  /** To be told of every frame as it comes; playback stays so far behind that metadata is there in time. */
  lateness: Lateness
  /** A frame to be seen now, good during the call only, and exactly when it was taken: undefined where nobody can tell. */
  onFrame(picture: CanvasImageSource, moment: StreamMoment | undefined): void
  /** This way leads to no picture here and is given up; another may lead to one. */
  onUnable(reason: string): void
}

/** One way of playing a live stream. */
export type LiveViewOpener = (options: LiveViewOptions) => LiveView
