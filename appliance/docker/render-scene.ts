import { resolve } from 'node:path'
import { createServiceLog, createStdoutSink } from '../process/service-log.ts'
import { renderScene } from '../quickstart/demo-scene.ts'
import { withdrawScene } from './scene-request.ts'

// Renders the demo scene in a container of its own, for quickstart.ts.

const log = createServiceLog([createStdoutSink(process.env)])
const dataFolder = resolve(process.env.EYRIE_DATA ?? '')
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

try {
  const { playable, finished } = renderScene({
    dataFolder,
    context: { environment: process.env },
    log,
    signal: stop.signal,
  })
  await Promise.all([playable, finished])
} catch (error) {
  log.error('scene', (error as Error).message)
  // The container that waits for the scene fails, too.
  withdrawScene(dataFolder)
  process.exitCode = 1
}
