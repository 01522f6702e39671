import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import type { Requirement } from '../fixtures/requirements/needs.ts'

export const administrator = { email: 'owner@eyrie.test', password: 'correct horse battery staple' }

/** An account that starts the appliance. */
export interface Account {
  name: string
  uid: number
  requirement: Requirement
}

const ownUid = process.getuid?.() ?? 0
const isRoot = ownUid === 0
/** The first and the last system account of Debian. Postgres requires an account that exists. */
const ORDINARY_UID = 65_534
const ATTACKER_UID = 1

const asUser = (uid: number) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']

/** Whether another user can read the checkout and run Node. */
function canUse(uid: number): boolean {
  const [command = '', ...args] = asUser(uid)
  return spawnSync(command, [...args, process.execPath, import.meta.filename]).status === 0
}

export const accounts: readonly Account[] = [
  {
    name: 'root',
    uid: 0,
    requirement: { isMet: isRoot, reason: 'only root can start the appliance as root' },
  },
  isRoot
    ? {
        name: 'an ordinary user',
        uid: ORDINARY_UID,
        requirement: {
          isMet: canUse(ORDINARY_UID),
          reason: 'other users cannot read the checkout; put it in a folder that they can enter',
        },
      }
    : { name: 'an ordinary user', uid: ownUid, requirement: { isMet: true, reason: '' } },
]

/** Starts the appliance as this account. */
export async function startAttackedAppliance({ uid }: Account): Promise<Appliance> {
  const data = mkdtempSync(join(tmpdir(), 'eyrie-attacked-'))
  const isOwn = uid === ownUid
  if (!isOwn) chownSync(data, uid, uid)
  const appliance = await startAppliance({
    source: SMALL_PICTURE,
    launcher: isOwn ? [] : asUser(uid),
    environment: {
      EYRIE_DATA: data,
      EYRIE_ADMIN_EMAIL: administrator.email,
      EYRIE_ADMIN_PASSWORD: administrator.password,
      // The cache of the account that runs the tests is not writable for others.
      ...(!isOwn && { HOME: data, NODE_COMPILE_CACHE: undefined }),
    },
  })
  await appliance.waitForLine(/ready: open/)
  return appliance
}

export const attackerRequirement: Requirement = {
  isMet: isRoot,
  reason: 'only root can act as another user of the machine',
}

/**
 * Runs a shell command as another user of the machine, without any group. Returns whether it
 * succeeded, and its output.
 */
export function runAsAttacker(command: string): { succeeded: boolean; output: string } {
  const [program = '', ...args] = asUser(ATTACKER_UID)
  const { status, stdout } = spawnSync(program, [...args, 'sh', '-c', command], {
    encoding: 'utf8',
  })
  return { succeeded: status === 0, output: stdout.trim() }
}

/** Returns the secrets that the appliance keeps in files of one line, by name. */
export function readSecrets({ data }: Appliance): Map<string, string> {
  const folder = join(data, 'secrets')
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  return new Map(readdirSync(folder).map(name => [name, read(name)]))
}
