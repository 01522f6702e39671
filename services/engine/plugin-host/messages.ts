import type { Element, Frame, FrameResult, Log, Setup } from '@eyrie/element'
import type { RingPlace } from '../ports.ts'

/** What an element's thread is started with. */
export interface ThreadData {
  entry: string
  name: string
  setup: Omit<Setup<unknown, unknown>, 'inference' | 'log'>
}

/** `ring` is where the frame's picture lies, for elements that need pixels. */
export type ToThread = { type: 'process'; frame: Frame; ring: RingPlace | undefined } | { type: 'close' }

/** The answer to the start and to each `process`. */
export type Answer =
  | ({ type: 'opened' } & Pick<Element, 'view' | 'size' | 'metadata'>)
  /** With the CPU time that it took. */
  | { type: 'processed'; result: FrameResult; cpuMs: number }
  | { type: 'gone' }
  | { type: 'failed'; message: string }

export type FromThread = Answer | { type: 'log'; level: keyof Log; fields: object; message: string }
