import { createLog } from '@eyrie/kit/log'
import { createOutput } from './output.ts'
import type { Socket } from './output-follower.ts'

/**
 * Publishes events endlessly and sends the sequence number of each event that a client received
 * to the parent process.
 */
const output = createOutput({
  folder: process.argv[2]!,
  logBytes: 1 << 30,
  log: createLog('test', 'error'),
})
await output.start()

const client: Socket = {
  OPEN: 1,
  readyState: 1,
  bufferedAmount: 0,
  on: () => {},
  close: () => {},
  send: (text: string) => {
    const { kind, seq } = JSON.parse(text)
    if (kind === 'event') process.send!(seq)
  },
}
output.follow(client, {})

const origin = {
  channel: 1,
  source: 1,
  pipeline: 1,
  pts: 0,
  epoch: 1,
  time: new Date().toISOString(),
}
setInterval(() => {
  for (let n = 0; n < 7; n++) output.publish({ kind: 'event', ...origin, data: { type: 'test' } })
}, 1)
