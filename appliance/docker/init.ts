import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryParseJson } from '@eyrie/contract/parse'
import { type Environment, extractSecrets, readEnvironment, readSettings } from '@eyrie/kit'
import { listOwnedFolders } from '../accounts/data-ownership.ts'
import { applyOwners, shareFile } from '../accounts/owners.ts'
import { findServiceAccounts, type ServiceAccounts } from '../accounts/service-accounts.ts'
import { createServiceLog, createStdoutSink, type LogFields } from '../process/service-log.ts'
import { provideModel } from '../quickstart/quickstart-model.ts'
import { readState } from '../quickstart/quickstart-state.ts'
import { getOrCreateSecret } from '../supervisor/data-folder.ts'
import { prepareMediaFolders } from '../supervisor/media-folders.ts'
import { getOrCreateTokens } from '../supervisor/service-secrets.ts'
import { addPublishedAddress } from './container-settings.ts'
import { storeTokens, writeCredentials } from './credentials.ts'
import { type GivenSecrets, readGivenSecrets } from './given-secrets.ts'
import {
  countConfiguredChannels,
  describeRingProblem,
  measureFileSystem,
  parseSize,
  type RingMemory,
} from './ring-check.ts'
import { requestScene, withdrawScene } from './scene-request.ts'

// The first step of docker compose up, which runs once, as root, before any service starts. It
// creates folders and secrets, gives each service its own, and reports settings with which the
// services would fail. On a machine without containers, the supervisor does this.

/** Folder of the secrets that the operator has provided. */
const GIVEN_SECRETS = '/run/eyrie/given'
/** Settings file of the operator. */
const GIVEN_SETTINGS = '/run/eyrie/eyrie.json'
/** Folder for the secrets of each service. */
const CREDENTIALS = '/run/eyrie/credentials'
const BYTES_PER_MIB = 1 << 20

const log = createServiceLog([createStdoutSink(process.env)])

try {
  await initialize(process.env)
} catch (error) {
  log.error('init', (error as Error).message)
  process.exitCode = 1
}

/** Prepares everything in order: each step needs the results of the steps before it. */
async function initialize(variables: NodeJS.ProcessEnv): Promise<void> {
  const given = readGivenSecrets(GIVEN_SECRETS)
  assertTlsComplete(given, variables)
  const secrets = { ...extractSecrets(variables), ...given.secrets }
  const environment = readEnvironment({ ...variables, ...given.certificate, ...secrets })
  const { data } = environment
  const accounts = findServiceAccounts()
  if ('missing' in accounts) throw new Error(`this image has no user ${accounts.missing}`)
  const memory = checkRingMemory(environment, variables)

  writeSettings(data, variables)
  const { MODEL, SOURCE } = variables
  if (MODEL) await addModel(MODEL, data)
  prepareMediaFolders(environment)
  const hasOwnVideo = Boolean(given.source || SOURCE)
  if (!hasOwnVideo && (readState(data)?.scene ?? true)) requestScene(data)
  else withdrawScene(data)

  const tokens = createTokens(environment, variables)
  storeTokens(data, tokens)
  writeCredentials(CREDENTIALS, environment, tokens, accounts)
  giveDataToServices(data, accounts)
  log.info('init', 'prepared the data folder', {
    channels: memory.channels,
    ring_mib: Math.floor(memory.bytes / BYTES_PER_MIB),
  })
}

/** Throws an `Error` if only the certificate or only its host name is configured. */
function assertTlsComplete(
  { certificate }: GivenSecrets,
  { EYRIE_TLS_HOST }: NodeJS.ProcessEnv,
): void {
  if (Boolean(EYRIE_TLS_HOST) === (certificate !== undefined)) return
  throw new Error(
    'TLS needs both: the files tls.crt and tls.key in the folder of secrets, and EYRIE_TLS_HOST in .env, the name in the certificate',
  )
}

/** Returns the memory for decoded pictures. Throws an `Error` if it is too small. */
function checkRingMemory({ data, ring }: Environment, variables: NodeJS.ProcessEnv): RingMemory {
  const memory = {
    channels: Number(variables.EYRIE_CHANNELS),
    bytes: measureFileSystem(ring),
    configuredChannels: countConfiguredChannels(data),
    mediaBytes: parseSize('EYRIE_MEDIA_MEMORY', variables.EYRIE_MEDIA_MEMORY ?? ''),
  }
  const problem = describeRingProblem(memory)
  if (problem) throw new Error(problem)
  return memory
}

/** Adds the model in `MODEL=` to the model store, unless the store contains it. */
async function addModel(name: string, data: string): Promise<void> {
  const report = (message: string, fields: LogFields) => log.info('init', message, fields)
  await provideModel({ name, isScene: false }, data, report)
}

/** Returns the tokens of the appliance. If its engines register themselves, with a join token. */
function createTokens(environment: Environment, { EYRIE_ENGINES }: NodeJS.ProcessEnv) {
  const tokens = getOrCreateTokens(environment)
  if (EYRIE_ENGINES !== 'join') return tokens
  const join = tokens.join ?? getOrCreateSecret(environment.data, 'join-token')
  return { ...tokens, join, engineJoins: true }
}

/** Gives the files in the data folder to the users of the services. */
function giveDataToServices(data: string, accounts: ServiceAccounts): void {
  const shared = { uid: 0, gid: accounts.media.gid }
  for (const { path, reason } of applyOwners(listOwnedFolders(data, { shared, roles: accounts }))) {
    log.warn('init', 'failed to change owner', { path, reason })
  }
  shareFile(join(data, 'eyrie.json'), shared, 0o640)
}

/**
 * Copies the settings of the operator to the data folder, and adds the address at which this
 * machine is reached. Throws an `Error` if a setting is invalid.
 */
function writeSettings(data: string, variables: NodeJS.ProcessEnv): void {
  const given = tryParseJson(readFileSync(GIVEN_SETTINGS, 'utf8'))
  if (typeof given !== 'object' || given === null) {
    throw new Error(
      'the file that EYRIE_SETTINGS names is not valid: it must contain a JSON object',
    )
  }
  const { EYRIE_ADDRESS = '', EYRIE_ANNOUNCED = '', EYRIE_WEBRTC_PORT = '' } = variables
  const settings = addPublishedAddress(
    { ...given },
    { address: EYRIE_ADDRESS, announced: EYRIE_ANNOUNCED, port: Number(EYRIE_WEBRTC_PORT) },
  )
  writeFileSync(join(data, 'eyrie.json'), `${JSON.stringify(settings, null, 2)}\n`)
  // Validates the settings.
  readSettings(data)
}
