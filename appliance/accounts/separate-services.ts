import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'
import type { Account } from '@eyrie/kit/accounts/account'
import { type Capability, findClosedPath, type Privileges } from '@eyrie/kit/accounts/setpriv'
import type { ServiceLog } from '../process/service-log.ts'
import { type DataOwners, listOwnedFolders, type Owner } from './data-ownership.ts'
import { chooseDatabaseAccount } from './database-account.ts'
import { applyOwners, shareFile } from './owners.ts'
import type { Role } from './service-accounts.ts'
import {
  chooseSeparation,
  describeSeparation,
  findPrivileges,
  type ServiceSeparation,
} from './service-separation.ts'

/** How the services of this start are separated. */
export interface SeparatedServices {
  separation: ServiceSeparation
  /** The user of the database server. Undefined: management runs the server. */
  databaseAccount: Account | undefined
}

const ROOT: Owner = { uid: 0, gid: 0 }
const FIRST_UNPRIVILEGED_PORT = 1024

/**
 * Decides how the services are separated from root and from each other, logs the decision, and
 * gives the data folder to their users. Must be called before the services start.
 */
export async function separateServices(
  { data, outputRoots, plugins }: Environment,
  log: ServiceLog,
): Promise<SeparatedServices> {
  const separation = await chooseSeparation(data)
  const databaseAccount = chooseDatabaseAccount(separation, data)
  logSeparation(separation, log)
  if (separation.kind === 'ordinary-user') {
    closeSecrets(data)
    return { separation, databaseAccount }
  }

  const owners = findOwners(separation, databaseAccount ?? ROOT)
  for (const { path, reason } of applyOwners(listOwnedFolders(data, owners))) {
    log.warn('supervisor', 'failed to change owner', { path, reason })
  }
  shareFile(join(data, 'eyrie.json'), owners.shared, 0o640)
  const engine = findPrivileges(separation, 'engine')
  if (engine) await reportClosedFolders(engine, { outputRoots, plugins }, log)
  const media = findPrivileges(separation, 'media')
  const { folder } = readSettings(data).media.recording
  if (media && folder) await provideRecordings(media, { folder, owner: owners.roles.media }, log)
  return { separation, databaseAccount }
}

/**
 * Returns the owners of the data folder. This process must be root. `database` is the user of the
 * database server.
 */
function findOwners(separation: ServiceSeparation, database: Owner): DataOwners {
  if (separation.kind !== 'users') {
    return {
      shared: ROOT,
      roles: { media: ROOT, engine: ROOT, management: ROOT, scheduler: ROOT, database },
    }
  }
  const { accounts } = separation
  return { shared: { uid: 0, gid: accounts.media.gid }, roles: accounts }
}

function logSeparation(separation: ServiceSeparation, log: ServiceLog): void {
  if (separation.kind === 'users') {
    log.info('supervisor', 'each service runs as a user of its own')
    return
  }
  const [reason] = describeSeparation(separation).missing
  // Only root can separate services. If root does not, something is missing.
  const severity = separation.kind === 'ordinary-user' ? 'info' : 'warn'
  log[severity]('supervisor', 'services are not separated', { reason })
}

/**
 * Makes the folder of secrets private, if it belongs to this user. Root may have shared it with the
 * services at an earlier start.
 */
function closeSecrets(data: string): void {
  const folder = join(data, 'secrets')
  const status = statSync(folder, { throwIfNoEntry: false })
  if (!status || status.uid !== process.geteuid?.()) return
  const isShared = (status.mode & 0o077) !== 0
  if (isShared) chmodSync(folder, 0o700)
}

/**
 * Warns of configured folders that the engine cannot use. They belong to the operator, so their
 * owner is not changed.
 */
async function reportClosedFolders(
  privileges: Privileges,
  { outputRoots, plugins }: Pick<Environment, 'outputRoots' | 'plugins'>,
  log: ServiceLog,
): Promise<void> {
  const existingRoots = outputRoots.filter(path => existsSync(path))
  const unwritable = await findClosedPath(privileges, 'write', existingRoots)
  if (unwritable !== undefined) {
    const remedy = `chown ${getUserName(privileges)} ${unwritable}`
    log.warn('supervisor', 'sinks cannot write to folder', { folder: unwritable, remedy })
  }
  const unreadable = await findClosedPath(privileges, 'read', plugins)
  if (unreadable !== undefined) {
    const remedy = `chmod -R o+rX ${unreadable}`
    log.warn('supervisor', 'plugins cannot be read', { folder: unreadable, remedy })
  }
}

/**
 * Lets media write to the folder for recordings that the settings name. An empty folder is
 * given to media. The owner of any other folder remains, and a warning says how to change it
 * if media cannot write.
 */
async function provideRecordings(
  privileges: Privileges,
  { folder, owner }: { folder: string; owner: Owner },
  log: ServiceLog,
): Promise<void> {
  if (readdirSync(folder).length === 0) {
    applyOwners([{ path: folder, owner, mode: 0o700 }])
    return
  }
  const isClosed = (await findClosedPath(privileges, 'write', [folder])) !== undefined
  if (!isClosed) return
  const remedy = `chown -R ${getUserName(privileges)} ${folder}`
  log.warn('supervisor', 'recordings cannot be written to folder', { folder, remedy })
}

const getUserName = ({ account }: Privileges) => account?.name ?? 'root'

/**
 * Returns the capabilities that a service needs in addition to the rights of its user: to listen on
 * a low port, and to read videos that are closed to its user.
 */
export async function findCapabilities(
  privileges: Privileges,
  role: Role,
  { port, mediaRoots }: { port: number; mediaRoots: readonly string[] },
): Promise<Capability[]> {
  const capabilities: Capability[] = port < FIRST_UNPRIVILEGED_PORT ? ['net_bind_service'] : []
  if (role !== 'media') return capabilities
  const existingRoots = mediaRoots.filter(path => existsSync(path))
  const closed = await findClosedPath(privileges, 'read', existingRoots)
  return closed === undefined ? capabilities : [...capabilities, 'dac_read_search']
}
