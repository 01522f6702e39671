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
 * Decides how the services are separated, logs it, and gives the data folder to their users. Must be called before the services
 * start.
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
  for (const { path, reason } of applyOwners(listOwnedFolders(data, owners)))
    log.warn('supervisor', 'failed to change owner', { path, reason })
  shareFile(join(data, 'eyrie.json'), owners.shared, 0o640)
  await reportClosedFolders(findPrivileges(separation, 'engine'), { outputRoots, plugins }, log)
  await provideRecordings(findPrivileges(separation, 'media'), owners.roles.media, data, log)
  return { separation, databaseAccount }
}

/** Returns the owners of the data folder if this process is root. `database` is the user of the database server. */
function findOwners(separation: ServiceSeparation, database: Owner = ROOT): DataOwners {
  if (separation.kind !== 'users')
    return {
      shared: ROOT,
      roles: { media: ROOT, engine: ROOT, management: ROOT, scheduler: ROOT, database },
    }
  const { accounts } = separation
  return { shared: { uid: 0, gid: accounts.media.gid }, roles: accounts }
}

function logSeparation(separation: ServiceSeparation, log: ServiceLog): void {
  const { missing } = describeSeparation(separation)
  if (separation.kind === 'users') log.info('supervisor', 'each service runs as a user of its own')
  else if (separation.kind === 'ordinary-user')
    log.info('supervisor', 'services are not separated', { reason: missing[0] })
  else log.warn('supervisor', 'services are not separated', { reason: missing[0] })
}

/** Makes the secrets private again if root has shared them with services at an earlier start, and they now belong to this user. */
function closeSecrets(data: string): void {
  const folder = join(data, 'secrets')
  const status = statSync(folder, { throwIfNoEntry: false })
  if (status?.uid === process.geteuid?.() && (status?.mode ?? 0) & 0o077) chmodSync(folder, 0o700)
}

/** Warns of configured folders that the engine cannot use. They belong to the operator, so their owner is not changed. */
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
  if (unwritable !== undefined)
    log.warn('supervisor', 'sinks cannot write to folder', {
      folder: unwritable,
      remedy: `chown ${user} ${unwritable}`,
    })
  const unreadable = await findClosedPath(privileges, 'read', plugins)
  if (unreadable !== undefined)
    log.warn('supervisor', 'plugins cannot be read', {
      folder: unreadable,
      remedy: `chmod -R o+rX ${unreadable}`,
    })
}

/** Gives the folder for recordings that the settings name to media if it is empty; otherwise warns if media cannot write to it. */
async function provideRecordings(
  privileges: Privileges | undefined,
  owner: Owner,
  data: string,
  log: ServiceLog,
): Promise<void> {
  const { folder } = readSettings(data).media.recording
  if (!privileges || !folder) return
  if (readdirSync(folder).length === 0) applyOwners([{ path: folder, owner, mode: 0o700 }])
  else if ((await findClosedPath(privileges, 'write', [folder])) !== undefined) {
    const remedy = `chown -R ${privileges.account?.name ?? 'root'} ${folder}`
    log.warn('supervisor', 'recordings cannot be written to folder', { folder, remedy })
  }
}

/** Returns the capabilities that a service needs in addition to the rights of its user, to listen and to read videos. */
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
