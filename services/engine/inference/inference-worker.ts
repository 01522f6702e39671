import { Mutex } from 'async-mutex'
import { type RingLocation, RingReader } from '../frames/ring-reader.ts'
import { type CropSession, openCropSession } from './crop-session.ts'
import { detectProviders } from './execution-providers.ts'
import { type ModelSession, openModelSession } from './model-session.ts'
import type {
  CropRequest,
  FromWorker,
  LoadRequest,
  RunRequest,
  ToWorker,
  WorkerAnswer,
  WorkerRequest,
} from './worker-messages.ts'

/**
 * Entry point of an inference worker: a child process of the engine that runs models on frames, one
 * frame at a time. It reads the frames from rings, which are buffers in shared memory to which the
 * media service writes.
 */

const MICROSECONDS_PER_MS = 1000

/**
 * The loaded models for whole frames and those for parts of frames, by the id that the engine
 * assigned. The engine requests only runs of models that it has loaded.
 */
const sessions = new Map<number, ModelSession>()
const cropSessions = new Map<number, CropSession>()
/** Open rings by path. */
const rings = new Map<string, RingReader>()
/** Requests are handled one at a time, in the order of their arrival. */
const requests = new Mutex()

process.on('message', (message: ToWorker) => {
  if (message.type === 'unload') unloadModel(message.model)
  else if (message.type === 'close-ring') closeRing(message.ring)
  else requests.runExclusive(() => answerRequest(message)).then(send, sendFailure)
})

// The engine decides when its workers exit, even if Ctrl-C in a terminal signals the
// whole process group.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

send({ type: 'ready', providers: await detectProviders(), isCompiled: !hasStrippedTypes() })

/** Whether Node has loaded Amaro, its package that strips types from code not compiled before. */
function hasStrippedTypes(): boolean {
  const { moduleLoadList = [] } = process as { moduleLoadList?: string[] }
  return moduleLoadList.some(name => name.includes('amaro'))
}

async function answerRequest(request: WorkerRequest): Promise<WorkerAnswer> {
  switch (request.type) {
    case 'load':
      return loadModel(request)
    case 'run':
      return detectObjects(request)
    case 'crop':
      return runOnCrop(request)
  }
}

async function loadModel({ model, card, file, provider }: LoadRequest): Promise<WorkerAnswer> {
  // Only the card of a model for parts of frames has a `kind`.
  if ('kind' in card) cropSessions.set(model, await openCropSession(card, file, provider))
  else sessions.set(model, await openModelSession(card, file, provider))
  return { type: 'loaded' }
}

async function detectObjects(request: RunRequest): Promise<WorkerAnswer> {
  const ring = openRing(request.ring)
  if (!ring) return { type: 'overwritten' }

  const { width, height } = ring.shape
  const session = sessions.get(request.model)!
  const cpuBefore = process.cpuUsage()
  const detections = await session.detect(ring, request.n, request.thresholds)
  if (detections === 'overwritten') return { type: 'overwritten' }

  // The CPU time of the whole process includes the threads of ONNX Runtime. Nothing else
  // runs in the meantime.
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuMs = (user + system) / MICROSECONDS_PER_MS
  return { type: 'detections', detections, cpuMs, size: { width, height } }
}

async function runOnCrop(request: CropRequest): Promise<WorkerAnswer> {
  const ring = openRing(request.ring)
  if (!ring) return { type: 'overwritten' }

  const session = cropSessions.get(request.model)!
  const { n, region, thresholds } = request
  const result = await session.run({ ring, n, region, thresholds })
  return result === 'overwritten' ? { type: 'overwritten' } : { type: 'cropped', result }
}

/**
 * Returns the reader of a ring, and reopens a replaced ring. Returns undefined if
 * the ring was removed.
 */
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
  cropSessions.get(model)?.close()
  cropSessions.delete(model)
}

function sendFailure(error: Error): void {
  send({ type: 'failed', reason: error.message })
}

function send(message: FromWorker): void {
  // The callback ignores errors: the engine may have exited and closed the channel.
  process.send?.(message, undefined, undefined, () => {})
}
