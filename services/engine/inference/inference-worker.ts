import { Mutex } from 'async-mutex'
import { type RingLocation, RingReader } from '../frames/ring-reader.ts'
import { detectProviders } from './execution-providers.ts'
import { type ModelSession, openModelSession } from './model-session.ts'
import type { FromWorker, ToWorker, WorkerAnswer, WorkerRequest } from './worker-messages.ts'

/** Entry point of an inference worker: a child process that reads frames from rings and runs models on them, one at a time. */

const sessions = new Map<number, ModelSession>()
const rings = new Map<string, RingReader>()
const requests = new Mutex()

process.on('message', (message: ToWorker) => {
  if (message.type === 'unload') unloadModel(message.model)
  else if (message.type === 'close-ring') closeRing(message.ring)
  else requests.runExclusive(() => handle(message)).then(send, sendFailure)
})
// The engine decides when its workers exit, even if Ctrl-C in a terminal signals the whole process group.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

send({ type: 'ready', providers: await detectProviders() })

async function handle(request: WorkerRequest): Promise<WorkerAnswer> {
  if (request.type === 'load') {
    sessions.set(request.model, await openModelSession(request.card, request.file, request.provider))
    return { type: 'loaded' }
  }
  const ring = openRing(request.ring)
  if (!ring) return { type: 'overwritten' }
  const { width, height } = ring.shape
  const cpuBefore = process.cpuUsage()
  const objects = await sessions.get(request.model)!.detect(ring, request.n, request.thresholds)
  if (objects === 'overwritten') return { type: 'overwritten' }
  // CPU time of the whole process, which is otherwise idle: a session may use threads of its own.
  const { user, system } = process.cpuUsage(cpuBefore)
  return { type: 'objects', objects, cpuMs: (user + system) / 1000, size: { width, height } }
}

/** Returns an open reader, and reopens a ring whose generation changed. Undefined if the ring was removed. */
function openRing({ path, generation }: RingLocation): RingReader | undefined {
  const open = rings.get(path)
  if (open?.shape.generation === generation) return open
  closeRing(path)
  try {
    const reader = new RingReader(path)
    rings.set(path, reader)
    return reader
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function closeRing(path: string): void {
  rings.get(path)?.close()
  rings.delete(path)
}

function unloadModel(model: number): void {
  sessions.get(model)?.close()
  sessions.delete(model)
}

function sendFailure(error: Error): void {
  send({ type: 'failed', reason: error.message })
}

function send(message: FromWorker): void {
  // The callback ignores the error of a closed channel: the engine may have exited in the meantime.
  process.send?.(message, undefined, undefined, () => {})
}
