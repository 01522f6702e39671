import { Worker } from 'node:worker_threads'
import type { Element, Log } from '@eyrie/element'
import type { ElementSource } from '../protocol/element-messages.ts'
import type { EncodedResult, InferCall } from '../protocol/infer-call.ts'
import {
  DEFAULT_TIMEOUTS,
  type ElementUse,
  RemoteElement,
  rejectCall,
} from '../protocol/remote-element.ts'
import { ResultLimits } from '../sandbox/limits/result-limits.ts'
import { HEAP_EXCEEDED, MAX_MEMORY_MIB } from './thread-memory.ts'

/** An element (a step of a pipeline) that is to run in a separate thread. */
export interface ElementThreadOptions extends ElementUse {
  source: ElementSource
  /** Runs a model for the element. */
  infer?(call: InferCall): Promise<EncodedResult>
  log: Log
}

/**
 * Opens an element in a separate thread, so that an element that hangs, crashes or leaks memory
 * does not affect other elements. The thread has no access to the environment variables or the
 * standard output of the engine.
 */
export function openElementThread(
  { source, infer, log, ...use }: ElementThreadOptions,
  timeouts = DEFAULT_TIMEOUTS,
): Promise<Element> {
  const worker = new Worker(new URL('./element-thread.ts', import.meta.url), {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  })
  const remote = new RemoteElement({
    connection: {
      send: message => worker.postMessage(message),
      terminate: () => void worker.terminate(),
    },
    timeouts,
    onLog: ({ level, fields, message }) => log[level](fields, message),
    onCall: call => (call.method === 'infer' && infer ? infer(call) : rejectCall()),
  })

  const logOutput = (text: string) => log.info({ element: source.name }, text.trimEnd())
  worker.stdout.setEncoding('utf8').on('data', logOutput)
  worker.stderr.setEncoding('utf8').on('data', logOutput)
  worker.on('message', message => remote.receive(message))
  worker.on('error', error => remote.fail(describeThreadError(error)))
  worker.on('exit', () => remote.fail('its thread has ended'))
  const limits = new ResultLimits(performance.now())
  return remote.open(source, {
    ...use,
    checkResult: result => limits.check(result, performance.now()) ?? use.checkResult?.(result),
  })
}

function describeThreadError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isOutOfMemory ? HEAP_EXCEEDED : error.message
}
