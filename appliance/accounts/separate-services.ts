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

  const owners = findOwners(separation, databaseAccount)
  for (const { path, reason } of applyOwners(listOwnedFolders(data, owners))) {
    log.warn('supervisor', 'failed to change owner', { path, reason })
  }
  shareFile(join(data, 'eyrie.json'), owners.shared, 0o640)
  await reportClosedFolders(findPrivileges(separation, 'engine'), { outputRoots, plugins }, log)
  await provideRecordings(findPrivileges(separation, 'media'), owners.roles.media, data, log)
  return { separation, databaseAccount }
}

/**
 * Returns the owners of the data folder if this process is root. `database` is the user of
 * the database server.
 */
function findOwners(separation: ServiceSeparation, database: Owner = ROOT): DataOwners {
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
  // An ordinary user cannot separate services. Root could, so that something is wrong.
  const severity = separation.kind === 'ordinary-user' ? 'info' : 'warn'
  log[severity]('supervisor', 'services are not separated', { reason })
}

/**
 * Makes the folder of secrets private again, if root has shared it with services at an earlier
 * start and it now belongs to this user.
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
  privileges: Privileges | undefined,
  { outputRoots, plugins }: Pick<Environment, 'outputRoots' | 'plugins'>,
  log: ServiceLog,
): Promise<void> {
  if (!privileges) return
  const unwritable = await findClosedPath(
    privileges,
    'write',
    outputRoots.filter(path => existsSync(path)),
  )
  const user = privileges.account?.name ?? 'root'
  if (unwritable !== undefined) {
    log.warn('supervisor', 'sinks cannot write to folder', {
      folder: unwritable,
      remedy: `chown ${user} ${unwritable}`,
    })
  }
  const unreadable = await findClosedPath(privileges, 'read', plugins)
  if (unreadable !== undefined) {
    log.warn('supervisor', 'plugins cannot be read', {
      folder: unreadable,
      remedy: `chmod -R o+rX ${unreadable}`,
    })
  }
}

/**
 * Lets media write to the folder for recordings that the settings name. An empty folder is
 * given to media. The owner of any other folder remains, and a warning says how to change it
 * if media cannot write.
 */
async function provideRecordings(
  privileges: Privileges | undefined,
  owner: Owner,
  data: string,
  log: ServiceLog,
): Promise<void> {
  const { folder } = readSettings(data).media.recording
  if (!privileges || !folder) return
  if (readdirSync(folder).length === 0) {
    applyOwners([{ path: folder, owner, mode: 0o700 }])
    return
  }
  const isClosed = (await findClosedPath(privileges, 'write', [folder])) !== undefined
  if (!isClosed) return
  const remedy = `chown -R ${privileges.account?.name ?? 'root'} ${folder}`
  log.warn('supervisor', 'recordings cannot be written to folder', { folder, remedy })
}

/**
 * Returns the capabilities that a service needs in addition to the rights of its user, to
 * listen and to read videos.
 */
export async function findCapabilities(
  privileges: Privileges,
  role: Role,
  { port, mediaRoots }: { port: number; mediaRoots: readonly string[] },
): Promise<Capability[]> {
  const capabilities: Capability[] = port < FIRST_UNPRIVILEGED_PORT ? ['net_bind_service'] : []
  if (role !== 'media') return capabilities
  const closed = await findClosedPath(
    privileges,
    'read',
    mediaRoots.filter(path => existsSync(path)),
  )
  return closed === undefined ? capabilities : [...capabilities, 'dac_read_search']
}
