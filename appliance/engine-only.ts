import { once } from 'node:events'
import { extractSecrets, trustCertificate } from '@eyrie/kit'
import { protectMemory } from '@eyrie/kit/protection/protect-memory'
import { readApplianceEnvironment } from './process/appliance-environment.ts'
import { createLogFile } from './process/log-file.ts'
import { createServiceLog, createStdoutSink } from './process/service-log.ts'
import { ENGINE_UNITS, startSupervisor } from './supervisor/supervisor.ts'

// The entry point of a machine or a container that only analyses: an engine with its media service,
// which joins the management service that EYRIE_MANAGEMENT_URL and EYRIE_JOIN_TOKEN name. It runs
// until it receives SIGINT, SIGTERM or SIGHUP.

const printer = createStdoutSink(process.env)
/** Only prints until the data folder, which contains the log file, is known. */
let log = createServiceLog([printer])

try {
  await run()
  process.exit(0)
} catch (error) {
  log.error('supervisor', 'failed to start', { err: error as Error })
  process.exit(1)
}

async function run(): Promise<void> {
  const unprotected = protectMemory()
  const secrets = extractSecrets(process.env)
  const environment = readApplianceEnvironment({ ...process.env, ...secrets })
  if (environment.tls) trustCertificate(environment.tls.cert)
  log = createServiceLog([printer, createLogFile(environment.data)])
  if (unprotected) log.warn('supervisor', 'failed to protect the memory', { reason: unprotected })

  const stopSignal = Promise.race(
    ['SIGINT', 'SIGTERM', 'SIGHUP'].map(signal => once(process, signal)),
  )
  const supervisor = await startSupervisor({
    environment,
    caller: process.env,
    units: ENGINE_UNITS,
    log,
  })
  await stopSignal
  log.info('supervisor', 'stopping')
  await supervisor.stop()
  log.info('supervisor', 'stopped')
}
