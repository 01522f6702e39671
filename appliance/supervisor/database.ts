import { resolve } from 'node:path'
import type { Environment } from '@eyrie/kit'
import type { Account } from '@eyrie/kit/accounts/account'
import { createSetprivCommand } from '@eyrie/kit/accounts/setpriv'
import { WITHOUT_INSPECTOR } from '@eyrie/kit/node-options'
import { findDatabasePrivileges } from '../accounts/database-account.ts'
import type { SeparatedServices } from '../accounts/separate-services.ts'
import type { ServiceLog } from '../process/service-log.ts'
import {
  type ProcessCommand,
  type SupervisedProcess,
  superviseProcess,
} from '../process/supervised-process.ts'
import { createOwnEnvironment } from './service-command.ts'

const PROGRAM = resolve(import.meta.dirname, '../../services/management/database-server/main.ts')

export interface DatabaseOptions {
  services: SeparatedServices
  environment: Environment
  /** Environment variables of all services. */
  variables: NodeJS.ProcessEnv
  log: ServiceLog
  /** Receives the state of the server, for the management service. */
  report(state: object): void
}

/**
 * Starts the embedded Postgres as a user of its own, because it refuses to run as root. Returns
 * undefined if management starts it or uses another database, or if it cannot be started.
 */
export async function startDatabase(
  options: DatabaseOptions,
): Promise<SupervisedProcess | undefined> {
  const { services, environment, log, report } = options
  const { databaseAccount } = services
  if (!databaseAccount || environment.databaseUrl !== undefined) return undefined
  try {
    const command = await createDatabaseCommand(databaseAccount, options)
    return superviseProcess(command, log, message => report(message as object))
  } catch (error) {
    const reason = `the database server cannot run as ${databaseAccount.name} (${(error as Error).message}): allow the capabilities SETUID, SETGID and SETPCAP, start Eyrie as an ordinary user, or set DATABASE_URL`
    log.error('supervisor', 'failed to start database server', { reason })
    report({ database_server: { isReady: false, isDiskFull: false, problem: reason } })
    return undefined
  }
}

async function createDatabaseCommand(
  account: Account,
  { services: { separation }, environment: { data, logLevel }, variables }: DatabaseOptions,
): Promise<ProcessCommand> {
  const privileges = await findDatabasePrivileges(account, [PROGRAM, process.execPath, data])
  const { PATH, LANG, TZ, LD_LIBRARY_PATH } = variables
  const client = separation.kind === 'users' ? separation.accounts.management.name : undefined
  const ownVariables = {
    PATH,
    LANG,
    TZ,
    LD_LIBRARY_PATH,
    EYRIE_DATA: data,
    EYRIE_LOG_LEVEL: logLevel,
    EYRIE_DATABASE_CLIENT: client,
  }
  return {
    name: 'database',
    args: [WITHOUT_INSPECTOR, PROGRAM],
    environment: createOwnEnvironment(ownVariables, data, 'database'),
    launcher: createSetprivCommand(privileges),
  }
}
