import type { Element, ElementContext, Frame, FrameResult } from '@eyrie/element'
import { z } from 'zod'
import type { RingLocation } from '../frames/ring-reader.ts'

/**
 * The data with which the thread of an element is started. Elements (the steps of pipelines) of third-party plugins run in
 * threads of their own; the other types in this file are the messages between such a thread and the engine.
 */
export interface ThreadData {
  /** Path of the module that exports the element. */
  entry: string
  /** Name of the element. */
  name: string
  setup: Omit<ElementContext<unknown, unknown>, 'inference' | 'log'>
}

/** Messages to a thread. `ring` contains the picture of the frame. It is defined only for elements that need pixels. */
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

/** `cpuMs` is the CPU time of the thread for this frame. */
const processed = z.object({
  type: z.literal('processed'),
  result: z.custom<FrameResult>(),
  cpuMs: z.number().min(0),
})

const overwritten = z.object({ type: z.literal('overwritten') })
const failed = z.object({ type: z.literal('failed'), message: z.string() })

/** The thread answers its start, `open` and each `process` with one message. */
export type ThreadAnswer = z.input<
  typeof loaded | typeof opened | typeof processed | typeof overwritten | typeof failed
>

/**
 * Messages from a thread. They are validated because the code of the element has access to the port, too. The content of
 * views and results is validated elsewhere.
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
