import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { createOutput } from './output.ts'

/**
 * Publishes more events than fit on the disk. Prints the sent messages, the status, and the
 * sizes of the segments.
 */
const EVENT_COUNT = 5000
const folder = process.argv[2]!
const output = createOutput({
  folder,
  logBytes: 1 << 30,
  segmentBytes: 64 << 10,
  log: createLog('test', 'silent'),
})
await output.start()

const sent: string[] = []
const client = {
  OPEN: 1,
  readyState: 1,
  bufferedAmount: 0,
  on: () => {},
  close: () => {},
  send: (message: string | Buffer, ...[done]: unknown[]) => {
    const { data } = JSON.parse(String(message))
    if (data) sent.push(data.type ?? data.state)
    if (typeof done === 'function') done()
  },
} as const
output.follow(client as never, { consumer: 'archive' })

const origin = {
  channel: 1,
  source: 1,
  pipeline: 1,
  pts: 0,
  epoch: 1,
  time: new Date().toISOString(),
}
for (let n = 1; n <= EVENT_COUNT; n++) {
  output.publish({ kind: 'event', ...origin, data: { type: `event ${n}` } })
  if (n % 100 === 0) await new Promise(resolve => setImmediate(resolve))
}
const isDone = () => sent.includes(`event ${EVENT_COUNT}`) && sent.includes('overrun')
while (!isDone()) await new Promise(resolve => setTimeout(resolve, 10))
const segments = join(folder, 'log')
const sizes = readdirSync(segments).map(name => statSync(join(segments, name)).size)
process.stdout.write(JSON.stringify({ sent, status: output.status(), sizes }))
await output.stop()
