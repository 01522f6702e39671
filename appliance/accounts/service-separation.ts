import { chownSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Isolation } from '@eyrie/contract/health'
import { type Account, findAccountById } from '@eyrie/kit/accounts/account'
import { findClosedPath, type Privileges } from '@eyrie/kit/accounts/setpriv'
import { findServiceAccounts, ROLES, type Role, type ServiceAccounts } from './service-accounts.ts'

/** How the services are separated from root and from each other. */
export type ServiceSeparation =
  /** Each service runs as a user of its own. */
  | { kind: 'users'; accounts: ServiceAccounts }
  /**
   * The services run as root without its capabilities, because users of their own are impossible.
   */
  | { kind: 'without-capabilities'; reason: string }
  /** The services run as root with all its rights. */
  | { kind: 'root'; reason: string }
  /** The services run as the ordinary user that started Eyrie. */
  | { kind: 'ordinary-user'; user: string }

const CHECKOUT = resolve(import.meta.dirname, '../..')
/**
 * Every service must be able to read Eyrie's code and the packages that it imports. One
 * file of each is checked.
 */
const CODE_SAMPLES = [
  join(CHECKOUT, 'services/media/main.ts'),
  join(CHECKOUT, 'node_modules/zod/package.json'),
]

/** Decides how the services are separated. The data folder must exist. */
export async function chooseSeparation(data: string): Promise<ServiceSeparation> {
  const uid = process.geteuid?.() ?? 0
  if (uid !== 0) return { kind: 'ordinary-user', user: findAccountById(uid).name }
  const accounts = findServiceAccounts()
  if ('missing' in accounts) {
    return separateWithoutUsers(
      `the user ${accounts.missing} does not exist: run appliance/setup/setup.sh as root, which creates it`,
    )
  }
  const obstacle = await findObstacle(accounts, data)
  return obstacle === undefined ? { kind: 'users', accounts } : separateWithoutUsers(obstacle)
}

/**
 * Decides whether services that must run as root can at least run without its capabilities.
 * `reason` is why they must run as root.
 */
async function separateWithoutUsers(reason: string): Promise<ServiceSeparation> {
  try {
    // Starts a program without capabilities.
    await findClosedPath({}, 'read', [])
    return { kind: 'without-capabilities', reason }
  } catch {
    return { kind: 'root', reason }
  }
}

/** Returns why the services cannot run as these users, and what to do about it. */
async function findObstacle(accounts: ServiceAccounts, data: string): Promise<string | undefined> {
  const paths = [...CODE_SAMPLES, process.execPath, dirname(data)]
  for (const role of ROLES) {
    const account = accounts[role]
    try {
      const closed = await findClosedPath({ account }, 'read', paths)
      if (closed !== undefined) {
        return `the user ${account.name} cannot read ${closed}: move Eyrie and its data folder to folders that every user can enter, such as /opt/eyrie and /var/lib/eyrie`
      }
    } catch (error) {
      return `root cannot start programs as ${account.name} (${(error as Error).message}): allow the capabilities SETUID, SETGID and SETPCAP`
    }
  }
  return findOwnershipObstacle(accounts.media, data)
}

/**
 * Tries to give a folder to a user. File systems such as FAT store no owners, and some network file
 * systems refuse to change them.
 */
function findOwnershipObstacle({ uid, gid }: Account, data: string): string | undefined {
  const probe = mkdtempSync(join(data, 'owner-'))
  try {
    chownSync(probe, uid, gid)
    if (statSync(probe).uid === uid) return undefined
    return `the file system of ${data} stores no owners: set EYRIE_DATA to a folder on another one`
  } catch (error) {
    return `files in ${data} cannot be given to other users (${(error as Error).message}): set EYRIE_DATA to a folder on another file system, or allow the capability CHOWN`
  } finally {
    rmdirSync(probe)
  }
}

/**
 * Returns the privileges with which a service runs, without the capabilities that only this service
 * needs. Undefined if it runs with all privileges of this process.
 */
export function findPrivileges(separation: ServiceSeparation, role: Role): Privileges | undefined {
  if (separation.kind === 'users') return { account: separation.accounts[role] }
  return separation.kind === 'without-capabilities' ? {} : undefined
}

/** Returns what is separated, and what is not, for the log and for `/health`. */
export function describeSeparation(separation: ServiceSeparation): Isolation {
  switch (separation.kind) {
    case 'users':
      return { level: 'full', missing: [] }
    case 'without-capabilities':
      return {
        level: 'partial',
        missing: [`services run as root, without its capabilities, because ${separation.reason}`],
      }
    case 'root':
      return {
        level: 'none',
        missing: [`services run as root, with all its rights, because ${separation.reason}`],
      }
    case 'ordinary-user':
      return {
        level: 'partial',
        missing: [
          `services run as the user ${separation.user} and can read the files of each other: start Eyrie as root, so that each has a user of its own`,
        ],
      }
  }
}
