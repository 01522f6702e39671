import { parentPort, workerData } from 'node:worker_threads'
import { RingView } from './ring-view.fixture.ts'

// Reads the newest frame for as long as it lives, and tells of each time how it went.
const ring = new RingView(workerData)
for (;;) {
  const n = ring.header('newest')
  if (n === 0) continue
  const payload = ring.payload(n)
  const untorn = ring.sequence(n) === 2 * n
  const uniform = payload.equals(Buffer.alloc(payload.length, payload[0]))
  parentPort!.postMessage(!untorn ? 'overwritten' : uniform ? 'whole' : 'wrong')
}
