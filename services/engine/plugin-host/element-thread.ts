import { parentPort, workerData } from 'node:worker_threads'
import type { Element, Frame, Log } from '@eyrie/element'
import type { RingLocation } from '../frames/ring-reader.ts'
import { loadElement, resolveSdk } from './load-element.ts'
import { PictureReader } from './picture-reader.ts'
import type { FromThread, ThreadAnswer, ThreadData, ToThread } from './thread-messages.ts'

/**
 * Entry point of the thread in which a plugin's element (a step of a pipeline) runs, separate from the main thread of
 * the engine. It loads and opens the element, then processes one frame at a time.
 */

const MICROSECONDS_PER_MS = 1000

const port = parentPort!
const { entry, name, setup }: ThreadData = workerData
const pictures = new PictureReader()

const send = (message: FromThread) => port.postMessage(message)

const logAt = (level: keyof Log) => (fields: object, message: string) =>
  send({ type: 'log', level, fields, message })
const log: Log = {
  debug: logAt('debug'),
  info: logAt('info'),
  warn: logAt('warn'),
  error: logAt('error'),
}

/** Sends the result or the error of `work` as the answer to the current request. */
async function answerWith(work: () => Promise<ThreadAnswer>): Promise<void> {
  try {
    send(await work())
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function processFrame(
  element: Element,
  frame: Frame,
  ring: RingLocation | undefined,
): Promise<ThreadAnswer> {
  const cpuBefore = process.threadCpuUsage()
  const picture = ring && pictures.read(ring, frame.n)
  if (picture === 'overwritten') return { type: 'overwritten' }

  const result = await element.process(frame, picture)
  const { user, system } = process.threadCpuUsage(cpuBefore)
  return { type: 'processed', result, cpuMs: (user + system) / MICROSECONDS_PER_MS }
}

await answerWith(async () => {
  resolveSdk()
  const definition = await loadElement(entry, name)
  let element: Element | undefined

  async function openElement(): Promise<ThreadAnswer> {
    element = await definition.open({ ...setup, inference: undefined, log })
    return { type: 'opened', view: element.view, size: element.size, metadata: element.metadata }
  }

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'open':
        void answerWith(openElement)
        break
      case 'process':
        void answerWith(() => processFrame(element!, message.frame, message.ring))
        break
      case 'close':
        element?.close?.()
        port.close()
        break
    }
  })
  return { type: 'loaded' }
})
