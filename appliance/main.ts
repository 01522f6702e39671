import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { readEnvironment, trustCertificate } from '@eyrie/kit'
import { obtainWorker } from './mediasoup-worker/obtain-worker.ts'
import { createLogFile } from './process/log-file.ts'
import { createPrinter, createServiceLog } from './process/service-log.ts'
import { prepareQuickstart } from './quickstart/quickstart.ts'
import { startSupervisor } from './supervisor/supervisor.ts'

const printer = createPrinter(line => process.stdout.write(`${line}\n`), process.stdout.isTTY === true)
let log = createServiceLog([printer])

try {
  const { values } = parseArgs({
    options: {
      // Off by default: container images and appliances come with the worker.
      'obtain-worker': { type: 'boolean', default: false },
    },
  })
  const request = { source: process.env.SOURCE || undefined, model: process.env.MODEL || undefined }
  // The address may contain a password, which child processes must not inherit.
  delete process.env.SOURCE
  const environment = readEnvironment({ EYRIE_LICENSE: 'community', ...process.env })
  if (environment.tls) trustCertificate(environment.tls)
  log = createServiceLog([printer, createLogFile(environment.data)])
  const quickstart = await prepareQuickstart(request, environment, log)
  const stopSignal = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map(signal => once(process, signal)))
  const supervisor = await startSupervisor(quickstart.environment, process.env, log)
  const startup = new AbortController()
  const quickstartDone = quickstart.run(supervisor, startup.signal).catch(err => {
    if (!startup.signal.aborted) log.error('supervisor', 'quickstart failed', { err })
  })
  const workerDone = values['obtain-worker'] && obtainWorker(process.env, log, startup.signal)
  await stopSignal
  log.info('supervisor', 'stopping')
  startup.abort()
  await Promise.all([supervisor.stop(), quickstartDone, workerDone])
  log.info('supervisor', 'stopped')
  process.exit(0)
} catch (error) {
  log.error('supervisor', 'failed to start', { err: error as Error })
  process.exit(1)
}
