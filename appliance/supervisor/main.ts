import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { readEnvironment, trustCertificate } from '@eyrie/kit'
import { obtainWorker } from '../mediasoup-worker/obtaining.ts'
import { prepareQuickstart } from '../quickstart/quickstart.ts'
import { createConsole, printer } from './console.ts'
import { createLogFile } from './log-file.ts'
import { startSupervisor } from './supervisor.ts'

const print = printer(line => process.stdout.write(`${line}\n`), process.stdout.isTTY === true)
let log = createConsole([print])

try {
  const { values } = parseArgs({
    options: {
      // Images and boxes have the worker already.
      'obtain-worker': { type: 'boolean', default: false },
    },
  })
  const wish = { source: process.env.SOURCE || undefined, model: process.env.MODEL || undefined }
  // It may hold a password, which is no business of what is started from here.
  delete process.env.SOURCE
  const environment = readEnvironment({ EYRIE_LICENSE: 'community', ...process.env })
  if (environment.tls) trustCertificate(environment.tls)
  log = createConsole([print, createLogFile(environment.data)])
  const quickstart = await prepareQuickstart(wish, environment, log)
  const stopped = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map(signal => once(process, signal)))
  const supervisor = await startSupervisor(quickstart.environment, process.env, log)
  const start = new AbortController()
  const started = quickstart.run(supervisor, start.signal).catch(error => {
    if (!start.signal.aborted) log.error('supervisor', error.message)
  })
  const obtained = values['obtain-worker'] && obtainWorker(process.env, log, start.signal)
  await stopped
  log.info('supervisor', 'stopping')
  start.abort()
  await Promise.all([supervisor.stop(), started, obtained])
  log.info('supervisor', 'stopped')
  process.exit(0)
} catch (error) {
  log.error('supervisor', (error as Error).message)
  process.exit(1)
}
