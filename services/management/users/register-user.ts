import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import type { Database, Work } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { user } from '../db/schema/index.ts'
import { includesRole } from '../rights/access.ts'
import type { Principal } from '../rights/principal.ts'
import type { Passwords } from './passwords.ts'
import { countAttempt, deleteExpiredAttempts, type LimitSubject } from './sign-in-limits.ts'

const OPERATION = '/user/register'

interface Registration {
  email: string
  first_name: string
  last_name: string
  password: string
  /** The role that the user asks for. An administrator decides about it. */
  role_key: string
}

interface RegisterOptions {
  /** The signed-in user. Only an administrator registers other users. */
  caller: Principal | undefined
  /** IP address of the client. */
  address: string
  /** Whether people may register themselves. */
  isOpen: boolean
  passwords: Passwords
  now(): Date
}

/**
 * Creates a user and resolves to the user's id. The user has no rights until an administrator
 * verifies the user and assigns a role.
 *
 * A user whom an administrator registers belongs to the administrator's organization. Users who
 * register themselves belong to none, so only a superadmin can manage them. They cause `EyrieError`
 * (`rights`) while registration is switched off, and `TooManyAttempts` after ten registrations from
 * the same network in an hour.
 */
export async function registerUser(
  database: Database,
  registration: Registration,
  { caller, address, isOpen, passwords, now }: RegisterOptions,
): Promise<string> {
  const administrator = caller && includesRole(caller.role, 'admin') ? caller : undefined
  if (!administrator) {
    assertRegistrationOpen(isOpen)
    await countRegistration(database, address, now())
  }

  const values = {
    email: registration.email,
    first_name: registration.first_name,
    last_name: registration.last_name,
    user_name: toUserName(registration),
    role_wish: registration.role_key,
    organization_id: administrator?.organizations[0] ?? null,
    password_hash: await passwords.hash(registration.password),
  }
  const insert: Work<string> = async tx => {
    const rows = await tx.insert(user).values(values).returning({ user_id: user.user_id })
    return firstRow(rows).user_id
  }

  return administrator
    ? database.as(administrator, OPERATION, insert)
    : database.system(OPERATION, insert)
}

function assertRegistrationOpen(isOpen: boolean): void {
  if (isOpen) return
  throw new EyrieError(
    'rights',
    'registration is switched off: ask an administrator for an account',
  )
}

/** Throws `TooManyAttempts` if too many users have registered from the network of this address. */
async function countRegistration(database: Database, address: string, now: Date): Promise<void> {
  const subject: LimitSubject = { kind: 'register', name: toNetwork(address) }
  await database.system(OPERATION, async tx => {
    await deleteExpiredAttempts(tx, now)
    await countAttempt(tx, subject, now)
  })
}

/**
 * Returns the display name: the first and last name, or the e-mail address if both names are empty.
 */
export function toUserName({
  email,
  first_name,
  last_name,
}: Pick<Registration, 'email' | 'first_name' | 'last_name'>): string {
  const fullName = `${first_name} ${last_name}`.trim()
  return fullName || email
}
