import { resolve } from 'node:path'
import { createPrinter, createServiceLog } from '../process/service-log.ts'
import { renderScene } from '../quickstart/demo-scene.ts'

// Renders the demo scene in a container of its own, for quickstart.ts.

const log = createServiceLog([createPrinter(line => process.stdout.write(`${line}\n`))])
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

try {
  const { playable, finished } = renderScene({
    dataFolder: resolve(process.env.EYRIE_DATA ?? ''),
    surroundings: { environment: process.env },
    log,
    signal: stop.signal,
  })
  await Promise.all([playable, finished])
} catch (error) {
  log.error('scene', (error as Error).message)
  process.exitCode = 1
}
