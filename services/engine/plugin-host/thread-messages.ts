import type { Element, ElementContext, Frame, FrameResult } from '@eyrie/element'
import { z } from 'zod'
import type { RingLocation } from '../frames/ring-reader.ts'

/** Start data of an element's thread. */
export interface ThreadData {
  entry: string
  name: string
  setup: Omit<ElementContext<unknown, unknown>, 'inference' | 'log'>
}

/** `ring` locates the frame's picture, for elements that need pixels. */
export type ToThread =
  | { type: 'open' }
  | { type: 'process'; frame: Frame; ring: RingLocation | undefined }
  | { type: 'close' }

const loaded = z.object({ type: z.literal('loaded') })
const opened = z.object({
  type: z.literal('opened'),
  view: z.custom<Element['view']>().optional(),
  size: z.custom<Element['size']>().optional(),
  metadata: z.custom<Element['metadata']>().optional(),
})

/** `cpuMs`: CPU time of the frame. */
const processed = z.object({
  type: z.literal('processed'),
  result: z.custom<FrameResult>(),
  cpuMs: z.number().min(0),
})

const overwritten = z.object({ type: z.literal('overwritten') })
const failed = z.object({ type: z.literal('failed'), message: z.string() })

/** A thread answers once to its start, to `open` and to each `process`. */
export type ThreadAnswer = z.input<
  typeof loaded | typeof opened | typeof processed | typeof overwritten | typeof failed
>

/**
 * Messages from a thread. An element has access to its thread's port and may send anything, so messages are validated here;
 * views and results are validated by their users.
 */
export const fromThread = z.discriminatedUnion('type', [
  loaded,
  opened,
  processed,
  overwritten,
  failed,
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    fields: z.custom<object>(),
    message: z.custom<string>(),
  }),
])
export type FromThread = z.input<typeof fromThread>
