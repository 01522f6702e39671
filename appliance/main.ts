import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { type Environment, extractSecrets, trustCertificate } from '@eyrie/kit'
import { createFolder } from '@eyrie/kit/create-folder'
import { protectMemory } from '@eyrie/kit/protection/protect-memory'
import { obtainWorker } from './mediasoup-worker/obtain-worker.ts'
import { readApplianceEnvironment } from './process/appliance-environment.ts'
import { isJournal } from './process/journal.ts'
import { createLogFile } from './process/log-file.ts'
import { createServiceLog, createStdoutSink } from './process/service-log.ts'
import { announceConsoleLink } from './quickstart/console-link.ts'
import { renderScene } from './quickstart/demo-scene.ts'
import {
  prepareQuickstart,
  type QuickstartRequest,
  type QuickstartServices,
} from './quickstart/quickstart.ts'
import { DATA_MODE } from './supervisor/data-folder.ts'
import { type Supervisor, startSupervisor } from './supervisor/supervisor.ts'

// The entry point of the appliance, which is the whole of Eyrie on one machine. It runs the
// services as child processes until it receives SIGINT, SIGTERM or SIGHUP. At its start, it creates
// a pipeline for the video that `make run` names, or for the rendered scene.

const printer = createStdoutSink(process.env)
/** The log file is added as soon as its folder, the data folder, is known. */
const logSinks = [printer]
const log = createServiceLog(logSinks)

try {
  await runAppliance()
  process.exit(0)
} catch (error) {
  log.error('supervisor', 'failed to start', { err: error as Error })
  process.exit(1)
}

/** Starts everything, and resolves when everything has stopped again. */
async function runAppliance(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      // Off by default, because container images and packages contain the worker.
      'obtain-worker': { type: 'boolean', default: false },
    },
  })
  const protectionFailure = protectMemory()
  // Both remove the secrets from the variables, so that child processes do not inherit them.
  const request = extractRequest(process.env)
  const secrets = extractSecrets(process.env)
  const environment = readApplianceEnvironment({ ...process.env, ...secrets })
  createFolder(environment.data, DATA_MODE)
  logSinks.push(createLogFile(environment.data))
  if (protectionFailure) {
    log.warn('supervisor', 'failed to protect the memory', { reason: protectionFailure })
  }
  if (environment.tls) trustCertificate(environment.tls.cert)

  const quickstart = await prepareQuickstart(request, environment, log)
  const stopSignal = Promise.race(
    ['SIGINT', 'SIGTERM', 'SIGHUP'].map(signal => once(process, signal)),
  )
  const supervisor = await startSupervisor({
    // Unlike `environment`, with the folder of the requested video, so that media may read it.
    environment: quickstart.environment,
    caller: process.env,
    log,
    print: printNotice,
  })

  const startup = new AbortController()
  const quickstartDone = quickstart
    .run(toQuickstartServices(supervisor, environment), startup.signal)
    .catch(err => {
      // Whatever the quickstart was waiting for fails when the appliance stops.
      if (!startup.signal.aborted) log.error('supervisor', 'quickstart failed', { err })
    })
  const workerDone = flags['obtain-worker']
    ? obtainWorker(process.env, log, startup.signal)
    : undefined

  await stopSignal
  log.info('supervisor', 'stopping')
  startup.abort()
  await Promise.all([supervisor.stop(), quickstartDone, workerDone])
  log.info('supervisor', 'stopped')
}

function toQuickstartServices(supervisor: Supervisor, { data }: Environment): QuickstartServices {
  const { urls, engineToken, mediaContext } = supervisor
  return {
    engine: { url: urls.engine, token: engineToken },
    waitUntilHealthy: supervisor.waitUntilHealthy,
    renderScene: signal => renderScene({ dataFolder: data, context: mediaContext, log, signal }),
    announceConsole: signal =>
      announceConsoleLink(urls.management, data, log, { signal, print: printNotice }),
  }
}

/**
 * Prints a text for the operator, such as a link that contains a secret. Under systemd it is
 * omitted, because the journal would store it.
 */
function printNotice(text: string): void {
  if (!isJournal(process.stdout.fd, process.env)) process.stdout.write(`${text}\n`)
}

/**
 * Removes `SOURCE` from the variables: the address may contain a password, which child
 * processes must not inherit.
 */
function extractRequest(variables: NodeJS.ProcessEnv): QuickstartRequest {
  const request = { source: variables.SOURCE || undefined, model: variables.MODEL || undefined }
  delete variables.SOURCE
  return request
}
