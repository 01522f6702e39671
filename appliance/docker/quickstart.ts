import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readApplianceEnvironment } from '../process/appliance-environment.ts'
import { createServiceLog, createStdoutSink } from '../process/service-log.ts'
import { prepareQuickstart } from '../quickstart/quickstart.ts'
import { getOrCreateTokens } from '../supervisor/service-secrets.ts'
import { readGivenSecrets } from './given-secrets.ts'
import { waitForScene } from './scene-request.ts'

// The last step of docker compose up, when all services are healthy: creates the source and the
// pipeline that `make run` creates. Another container renders the demo scene.

const log = createServiceLog([createStdoutSink(process.env)])

try {
  const environment = readApplianceEnvironment(process.env)
  const { data, urls } = environment
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

  const source = readGivenSecrets('/run/eyrie/given').source ?? (process.env.SOURCE || undefined)
  const request = { source, model: process.env.MODEL || undefined }
  const quickstart = await prepareQuickstart(request, environment, log)
  const services = {
    engine: { url: urls.engine, token: getOrCreateTokens(environment).engine[0]! },
    waitUntilHealthy: async () => {},
    renderScene: (signal: AbortSignal) => {
      const playable = waitForScene(data, signal)
      return { playable, finished: playable }
    },
    announceConsole: async () => announceConsole(data),
  }
  await quickstart.run(services, stop.signal)
} catch (error) {
  log.error('quickstart', (error as Error).message)
  process.exitCode = 1
}

function announceConsole(data: string): void {
  const { EYRIE_CONSOLE_URL = 'http://127.0.0.1:8080' } = process.env
  const password = existsSync(join(data, 'secrets/admin'))
    ? '; docker compose exec management cat /var/lib/eyrie/secrets/admin shows the first account'
    : ''
  log.info('eyrie', `ready: open ${EYRIE_CONSOLE_URL} and sign in${password}`)
}
