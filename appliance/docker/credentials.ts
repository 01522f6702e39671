import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, ServiceName } from '@eyrie/kit'
import type { Owner } from '../accounts/data-ownership.ts'
import { storeSecret } from '../supervisor/data-folder.ts'
import { type ApplianceTokens, selectSecrets } from '../supervisor/service-secrets.ts'

/** Name of the database and of its user, as compose.yaml passes them to Postgres. */
const DATABASE = 'eyrie'
const DATABASE_PASSWORD_FILE = 'password'

/** The user that runs Prometheus in its image. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/**
 * The file with the secrets of a service: a JSON object of variables, which the service
 * reads from a descriptor.
 */
export const SECRETS_FILE = 'secrets.json'

const SERVICES: readonly ServiceName[] = ['media', 'engine', 'management', 'scheduler']

/**
 * Writes the secrets of each service to a folder of its own, which only this service can read.
 * Docker mounts no other folder in its container.
 */
export function writeCredentials(
  folder: string,
  environment: Environment,
  tokens: ApplianceTokens,
  owners: Readonly<Record<ServiceName | 'database', Owner>>,
): void {
  const databaseUrl = environment.databaseUrl ?? createDatabaseUrl(folder, owners.database)
  for (const service of SERVICES) {
    const secrets = selectSecrets(service, { ...environment, databaseUrl }, tokens)
    writeOwned(join(folder, service), SECRETS_FILE, JSON.stringify(secrets), owners[service])
  }
  // Engine and media require a token of the engine for their metrics.
  writeOwned(join(folder, 'prometheus'), 'token', tokens.engine[0] ?? '', NOBODY)
  const targets = JSON.stringify(createManagementTargets(environment))
  writeOwned(join(folder, 'prometheus'), 'management.json', targets, NOBODY)
}

/**
 * Returns where Prometheus reads the metrics of management, as `file_sd_configs` of its
 * configuration reads it: by HTTPS if there is a certificate.
 */
export const createManagementTargets = ({ tls }: Pick<Environment, 'tls'>) => [
  { targets: ['management:8080'], labels: { __scheme__: tls ? 'https' : 'http' } },
]

/**
 * Stores the tokens in the data folder, where the quickstart and the command line look for them.
 * Tokens of the operator take the place of generated ones.
 */
export function storeTokens(
  data: string,
  { engine, plugins, internal, scheduler }: ApplianceTokens,
): void {
  storeSecret(data, 'engine-token', engine[0]!)
  storeSecret(data, 'plugin-token', plugins[0]!)
  storeSecret(data, 'internal-token', internal)
  storeSecret(data, 'scheduler-token', scheduler)
}

/**
 * Returns the URL of the database in the container `database`. Its password must not change,
 * because Postgres stores it as well.
 */
function createDatabaseUrl(folder: string, owner: Owner): string {
  const file = join(folder, 'database', DATABASE_PASSWORD_FILE)
  const existing = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const password = existing || randomBytes(24).toString('base64url')
  writeOwned(join(folder, 'database'), DATABASE_PASSWORD_FILE, password, owner)
  return `postgres://${DATABASE}:${password}@database:5432/${DATABASE}`
}

/**
 * Replaces a file atomically, so that a service that starts meanwhile does not read an incomplete
 * one.
 */
function writeOwned(folder: string, name: string, content: string, { uid, gid }: Owner): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const temporary = join(folder, `${name}.new`)
  writeFileSync(temporary, `${content}\n`, { mode: 0o400, flush: true })
  chownSync(temporary, uid, gid)
  renameSync(temporary, join(folder, name))
  chownSync(folder, uid, gid)
}
