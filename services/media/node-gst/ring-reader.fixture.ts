import { parentPort, workerData } from 'node:worker_threads'
import { RingView } from './ring-view.fixture.ts'

// Reads the newest frame in an endless loop and reports the result of each attempt.
const ring = new RingView(workerData)
for (;;) {
  const n = ring.header('newest')
  if (n === 0) continue
  const payload = ring.payload(n)
  const isIntact = ring.sequence(n) === 2 * n
  const isUniform = payload.equals(Buffer.alloc(payload.length, payload[0]))
  parentPort!.postMessage(!isIntact ? 'overtaken' : isUniform ? 'whole' : 'wrong')
}
