import type { RingPlace } from '../frames/ring-reader.ts'
import { RingReader } from '../frames/ring-reader.ts'
import { type LoadedModel, loadModel } from './loaded-model.ts'
import { presentProviders } from './providers.ts'
import type { FromWorker, ToWorker, WorkerAnswer, WorkerRequest } from './worker-messages.ts'

/** Entry of an inference worker: a child process that runs models on frames that it reads itself, one by one. */

const models = new Map<number, LoadedModel>()
const rings = new Map<string, RingReader>()
let answered = Promise.resolve()

process.on('message', (message: ToWorker) => {
  if (message.type === 'unload') unload(message.model)
  else if (message.type === 'forget') forget(message.ring)
  else answered = answered.then(() => answer(message)).then(send, fail)
})
// The engine decides when its workers end, also where a terminal's Ctrl-C reaches them all.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

send({ type: 'ready', providers: await presentProviders() })

async function answer(request: WorkerRequest): Promise<WorkerAnswer> {
  if (request.type === 'load') {
    models.set(request.model, await loadModel(request.card, request.file, request.provider))
    return { type: 'loaded' }
  }
  const ring = ringAt(request.ring)
  if (!ring) return { type: 'gone' }
  const { width, height } = ring.shape
  const before = process.cpuUsage()
  const objects = await models.get(request.model)!.detect(ring, request.n, request.thresholds)
  if (objects === 'overtaken') return { type: 'gone' }
  // Of the whole process, which does nothing else meanwhile: a session may compute on threads of its own.
  const { user, system } = process.cpuUsage(before)
  return { type: 'objects', objects, cpuMs: (user + system) / 1000, size: { width, height } }
}

/** The ring is opened once, and again when its generation has changed. undefined if it has been removed. */
function ringAt({ path, generation }: RingPlace): RingReader | undefined {
  const known = rings.get(path)
  if (known?.shape.generation === generation) return known
  forget(path)
  const opened = openIfThere(path)
  if (opened) rings.set(path, opened)
  return opened
}

function openIfThere(path: string): RingReader | undefined {
  try {
    return new RingReader(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function forget(path: string): void {
  rings.get(path)?.close()
  rings.delete(path)
}

function unload(model: number): void {
  models.get(model)?.close()
  models.delete(model)
}

function fail(error: Error): void {
  send({ type: 'failed', reason: error.message })
}

function send(message: FromWorker): void {
  // The engine may have gone meanwhile; then nobody waits for an answer.
  process.send?.(message, undefined, undefined, () => {})
}
