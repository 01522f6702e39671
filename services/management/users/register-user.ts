import type { Database, Work } from '../db/database.ts'
import { user } from '../db/schema/index.ts'
import { includesRole } from '../rights/access.ts'
import type { Principal } from '../rights/principal.ts'
import type { Passwords } from './passwords.ts'
import { countAttempt, toNetwork } from './sign-in-limits.ts'

const OPERATION = '/user/register'

interface Registration {
  email: string
  first_name: string
  last_name: string
  password: string
  role_key: string
}

interface RegisterOptions {
  /** The signed-in user who registers another one. Undefined when an unauthenticated client registers itself. */
  caller: Principal | undefined
  address: string
  passwords: Passwords
  now(): Date
}

/**
 * Creates a user without rights, until an administrator verifies the user and assigns a role. A user registered by an
 * administrator belongs to that administrator's organization; otherwise only a superadmin can manage the user. Resolves to
 * the user's id. Throws `TooManyAttempts` for too many registrations from one address.
 */
export async function registerUser(
  database: Database,
  { email, first_name, last_name, password, role_key }: Registration,
  { caller, address, passwords, now }: RegisterOptions,
): Promise<string> {
  const administrator = caller && includesRole(caller.role, 'admin') ? caller : undefined
  if (!administrator)
    await database.system(OPERATION, tx =>
      countAttempt(tx, { kind: 'register', name: toNetwork(address) }, now()),
    )
  const password_hash = await passwords.hash(password)
  const names = { first_name, last_name, user_name: toUserName({ email, first_name, last_name }) }
  const organization_id = administrator?.organizations[0] ?? null
  const insert: Work<string> = async tx => {
    const [created] = await tx
      .insert(user)
      .values({ email, ...names, role_wish: role_key, organization_id, password_hash })
      .returning({ user_id: user.user_id })
    return created!.user_id
  }
  return administrator ? database.as(administrator, OPERATION, insert) : database.system(OPERATION, insert)
}

/** The display name: first and last name, or the e-mail address without them. */
export const toUserName = ({
  email,
  first_name,
  last_name,
}: Pick<Registration, 'email' | 'first_name' | 'last_name'>) => `${first_name} ${last_name}`.trim() || email
