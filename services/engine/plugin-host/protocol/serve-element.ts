import { dirname } from 'node:path'
import type { Element, ElementDefinition, Frame, Log } from '@eyrie/element'
import { createStreamClock } from '@eyrie/element/clock'
import { describeError } from '@eyrie/element/error-location'
import { createElementMetrics } from '@eyrie/element/metrics'
import { parseSetup } from '@eyrie/element/parse-setup'
import type { RingLocation } from '../../frames/ring-reader.ts'
import { createCallingFunctions } from './element-calls.ts'
import type { ElementAnswer, ElementSource, FromElement, ToElement } from './element-messages.ts'
import { type ElementState, openState } from './kept-state.ts'
import { loadElement, resolveSdk } from './load-element.ts'
import type { PictureReader } from './picture-reader.ts'

const MICROSECONDS_PER_MS = 1000

/** The connection of an element to the engine. */
export interface ElementPort {
  send(message: FromElement): void
  /** Ends the connection, and with it the thread or process. */
  end(): void
  pictures: PictureReader
}

/**
 * Runs an element (a step of a pipeline) in its thread or process: loads and opens it, then
 * processes one frame at a time. Returns the function that handles the messages of the engine. The
 * engine sends `load` first, then `open`, then all others, so that each message finds what the
 * earlier ones have set.
 */
export function serveElement({ send, end, pictures }: ElementPort): (message: ToElement) => void {
  // Set by `load`.
  let source: ElementSource | undefined
  let definition: ElementDefinition | undefined
  // Set by `open`.
  let element: Element | undefined
  let state: ElementState | undefined

  const logAt = (level: keyof Log) => (fields: object, message: string) =>
    send({ type: 'log', level, fields, message })
  const log: Log = {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
  }

  /** Number of the last frame for which `process` was called. */
  let frameNumber: number | undefined
  const { fetch, storage, infer, handleReply } = createCallingFunctions(send, () => frameNumber)
  const streamClock = createStreamClock()
  const { metrics, collect: collectMetrics } = createElementMetrics()

  async function load(requested: ElementSource): Promise<ElementAnswer> {
    source = requested
    resolveSdk()
    definition = await loadElement(requested.entry, requested.name)
    return { type: 'loaded' }
  }

  async function open(): Promise<ElementAnswer> {
    const { setup } = source!
    // Only elements on the main thread of the engine have `inference`.
    const functions = { inference: undefined, infer, fetch, storage }
    const parsed = parseSetup(definition!, setup)
    const { clock } = streamClock
    element = await definition!.open({ ...setup, ...parsed, ...functions, clock, metrics, log })
    state = openState(element, streamClock)
    return { type: 'opened', view: element.view, size: element.size, metadata: element.metadata }
  }

  async function processFrame(
    frame: Frame,
    ring: RingLocation | undefined,
  ): Promise<ElementAnswer> {
    const cpuBefore = process.threadCpuUsage()
    const picture = ring && pictures.read(ring, frame.n)
    if (picture === 'overwritten') return { type: 'overwritten' }

    streamClock.advance(frame)
    frameNumber = frame.n
    const result = await element!.process(frame, picture)
    const { user, system } = process.threadCpuUsage(cpuBefore)
    const cpuMs = (user + system) / MICROSECONDS_PER_MS
    const changedMetrics = collectMetrics()
    return { type: 'processed', result, cpuMs, ...(changedMetrics && { metrics: changedMetrics }) }
  }

  /** Sends the result or the error of `work` as the answer to the current request. */
  async function sendAnswer(work: () => Promise<ElementAnswer>): Promise<void> {
    try {
      send(await work())
    } catch (error) {
      send({ type: 'failed', message: describeError(error, source && dirname(source.entry)) })
    }
  }

  return message => {
    switch (message.type) {
      case 'load':
        return void sendAnswer(() => load(message))
      case 'open':
        return void sendAnswer(open)
      case 'process':
        return void sendAnswer(() => processFrame(message.frame, message.ring))
      case 'save':
        return void sendAnswer(async () => ({ type: 'saved', ...state!.save() }))
      case 'restore':
        return void sendAnswer(async () => ({ type: 'restored', ...state!.restore(message.state) }))
      case 'reply':
        return handleReply(message)
      case 'close':
        element?.close?.()
        return end()
    }
  }
}
