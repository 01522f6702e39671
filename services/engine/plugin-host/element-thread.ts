import { parentPort, workerData } from 'node:worker_threads'
import type { Element, Frame, Log } from '@eyrie/element'
import type { RingPlace } from '../frames/ring-reader.ts'
import { loadElement, resolveSdk } from './load-element.ts'
import { PictureReader } from './picture-reader.ts'
import type { Answer, FromThread, ThreadData, ToThread } from './thread-messages.ts'

/** The inside of an element's thread: loads the element, opens it and hands it one frame after the other. */
const port = parentPort!
const { entry, name, setup }: ThreadData = workerData
const pictures = new PictureReader()

const send = (message: FromThread) => port.postMessage(message)

const logAt = (level: keyof Log) => (fields: object, message: string) =>
  send({ type: 'log', level, fields, message })
const log: Log = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') }

async function answer(work: () => Promise<Answer>): Promise<void> {
  try {
    send(await work())
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function analyse(element: Element, frame: Frame, ring: RingPlace | undefined): Promise<Answer> {
  const before = process.threadCpuUsage()
  const picture = ring && pictures.read(ring, frame.n)
  if (picture === 'overtaken') return { type: 'gone' }
  const result = await element.process(frame, picture)
  const { user, system } = process.threadCpuUsage(before)
  return { type: 'processed', result, cpuMs: (user + system) / 1000 }
}

await answer(async () => {
  resolveSdk()
  const definition = await loadElement(entry, name)
  let element: Element | undefined
  port.on('message', (message: ToThread) => {
    if (message.type === 'process') return answer(() => analyse(element!, message.frame, message.ring))
    if (message.type === 'close') {
      element?.close?.()
      return port.close()
    }
    return answer(async () => {
      element = await definition.open({ ...setup, inference: undefined, log })
      return { type: 'opened', view: element.view, size: element.size, metadata: element.metadata }
    })
  })
  return { type: 'loaded' }
})
