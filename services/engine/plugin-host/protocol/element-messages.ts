import type { Element, ElementContext, Frame, FrameResult } from '@eyrie/element'
import { MAX_METRICS, METRIC_NAME } from '@eyrie/element/metrics'
import { z } from 'zod'
import type { RingLocation } from '../../frames/ring-reader.ts'
import type { CallMessage, ElementCall, ReplyMessage } from './element-calls.ts'
import { inferCall } from './infer-call.ts'
import { MAX_STATE_LENGTH } from './kept-state.ts'

/**
 * Messages between the engine and an element (a step of a pipeline) that runs in a thread or a
 * process of its own. They are the same for both. The element answers `load`, `open`, `process`,
 * `save` and `restore` with one message each: `loaded`, `opened` and so on, or `failed`. It answers
 * `process` with `overwritten` if the picture is no longer available.
 */

/** An element of a plugin, and the context in which it is opened. */
export interface ElementSource {
  /** Path of the module that exports the element. */
  entry: string
  /** Name of the element. */
  name: string
  setup: Pick<ElementContext<unknown, unknown>, 'args' | 'config' | 'source' | 'size'>
}

/**
 * Messages to an element. `ring` contains the picture of the frame. It is defined only for
 * elements that need pixels.
 */
export type ToElement =
  | ({ type: 'load' } & ElementSource)
  | { type: 'open' }
  | { type: 'process'; frame: Frame; ring: RingLocation | undefined }
  | { type: 'save' }
  | { type: 'restore'; state: string }
  | { type: 'close' }
  | ReplyMessage

const loaded = z.object({ type: z.literal('loaded') })

// `z.custom` accepts anything. The channel validates the content of views and results.
const opened = z.object({
  type: z.literal('opened'),
  view: z.custom<Element['view']>().optional(),
  size: z.custom<Element['size']>().optional(),
  metadata: z.custom<Element['metadata']>().optional(),
})

const metricsByName = z
  .record(z.string().regex(METRIC_NAME), z.number())
  .refine(metrics => Object.keys(metrics).length <= MAX_METRICS)
const metrics = z.object({ values: metricsByName, totals: metricsByName })

const processed = z.object({
  type: z.literal('processed'),
  result: z.custom<FrameResult>(),
  /** CPU time of the frame in ms. */
  cpuMs: z.number().min(0),
  /** All metrics of the element, if any has changed. */
  metrics: metrics.optional(),
})

const saved = z.object({
  type: z.literal('saved'),
  /** The encoded state, which the engine does not decode; missing if the element has none. */
  state: z.base64().max(MAX_STATE_LENGTH).optional(),
  /** Why the state cannot be kept. */
  problem: z.string().optional(),
})

const restored = z.object({
  type: z.literal('restored'),
  /** Why the element does not continue with the state, but with its initial state. */
  problem: z.string().optional(),
})

const overwritten = z.object({ type: z.literal('overwritten') })
const failed = z.object({ type: z.literal('failed'), message: z.string() })

export type ElementAnswer = z.input<
  | typeof loaded
  | typeof opened
  | typeof processed
  | typeof saved
  | typeof restored
  | typeof overwritten
  | typeof failed
>

const logEntry = z.object({
  type: z.literal('log'),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  fields: z.custom<object>(),
  message: z.custom<string>(),
})
export type LogEntry = z.input<typeof logEntry>

/** The code of the element has thrown an error that nothing caught. Its process ends. */
const crashed = z.object({ type: z.literal('crashed'), message: z.string() })

const fetchCall = z.strictObject({
  method: z.literal('fetch'),
  url: z.string(),
  request: z.strictObject({
    method: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.base64().optional(),
  }),
})

const call = z.object({
  type: z.literal('call'),
  id: z.int(),
  call: z.discriminatedUnion('method', [
    fetchCall,
    z.strictObject({ method: z.enum(['read', 'delete']), name: z.string() }),
    z.strictObject({ method: z.literal('write'), name: z.string(), content: z.base64() }),
    z.strictObject({ method: z.literal('list') }),
    inferCall,
  ]) satisfies z.ZodType<ElementCall>,
}) satisfies z.ZodType<CallMessage>

/**
 * Messages from an element. They are validated, because the code of the plugin could send any
 * message itself.
 */
export const fromElement = z.discriminatedUnion('type', [
  loaded,
  opened,
  processed,
  saved,
  restored,
  overwritten,
  failed,
  logEntry,
  crashed,
  call,
])
export type FromElement = z.input<typeof fromElement>
