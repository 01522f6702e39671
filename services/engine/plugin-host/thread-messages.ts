import type { Element, ElementContext, Frame, FrameResult } from '@eyrie/element'
import { z } from 'zod'
import type { RingPlace } from '../frames/ring-reader.ts'

/** What an element's thread is started with. */
export interface ThreadData {
  entry: string
  name: string
  setup: Omit<ElementContext<unknown, unknown>, 'inference' | 'log'>
}

/** `ring` is where the frame's picture lies, for elements that need pixels. */
export type ToThread =
  | { type: 'open' }
  | { type: 'process'; frame: Frame; ring: RingPlace | undefined }
  | { type: 'close' }

const loaded = z.object({ type: z.literal('loaded') })
const opened = z.object({
  type: z.literal('opened'),
  view: z.custom<Element['view']>().optional(),
  size: z.custom<Element['size']>().optional(),
  metadata: z.custom<Element['metadata']>().optional(),
})

/** With the CPU time that it took. */
const processed = z.object({
  type: z.literal('processed'),
  result: z.custom<FrameResult>(),
  cpuMs: z.number().min(0),
})

const gone = z.object({ type: z.literal('gone') })
const failed = z.object({ type: z.literal('failed'), message: z.string() })

/** The answer to the start, to `open` and to each `process`. */
export type Answer = z.input<typeof loaded | typeof opened | typeof processed | typeof gone | typeof failed>

/** What a thread says; an element can reach its port, and say what it likes. What it says of itself is looked at later. */
export const fromThread = z.discriminatedUnion('type', [
  loaded,
  opened,
  processed,
  gone,
  failed,
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    fields: z.custom<object>(),
    message: z.custom<string>(),
  }),
])
export type FromThread = z.input<typeof fromThread>
