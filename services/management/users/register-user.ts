import type { Database, Work } from '../db/database.ts'
import { user } from '../db/schema/index.ts'
import { reaches } from '../rights/access.ts'
import type { Principal } from '../rights/principal.ts'
import type { Passwords } from './passwords.ts'
import { countAttempt, networkOf } from './sign-in-limits.ts'

const OPERATION = '/user/register'

interface Registration {
  email: string
  first_name: string
  last_name: string
  password: string
  role_key: string
}

interface RegisterOptions {
  /** Who registers somebody else; undefined: a stranger registers themselves. */
  caller: Principal | undefined
  address: string
  passwords: Passwords
  now(): Date
}

/**
 * Makes a user who may do nothing until an administrator has verified them and given a role. One whom an administrator
 * registers is that administrator's to administer; a stranger is the superadmin's. Resolves to the user's id; throws
 * TooManyAttempts where strangers of one address register too many.
 */
export async function register(
  database: Database,
  { email, first_name, last_name, password, role_key }: Registration,
  { caller, address, passwords, now }: RegisterOptions,
): Promise<string> {
  const administrator = caller && reaches(caller.role, 'admin') ? caller : undefined
  if (!administrator)
    await database.system(OPERATION, tx =>
      countAttempt(tx, { kind: 'register', name: networkOf(address) }, now()),
    )
  const password_hash = await passwords.hash(password)
  const names = { first_name, last_name, user_name: userNameOf({ email, first_name, last_name }) }
  const organization_id = administrator?.organizations[0] ?? null
  const insert: Work<string> = async tx => {
    const [made] = await tx
      .insert(user)
      .values({ email, ...names, role_wish: role_key, organization_id, password_hash })
      .returning({ user_id: user.user_id })
    return made!.user_id
  }
  return administrator ? database.as(administrator, OPERATION, insert) : database.system(OPERATION, insert)
}

/** What a user is called where there is room for one name. */
export const userNameOf = ({
  email,
  first_name,
  last_name,
}: Pick<Registration, 'email' | 'first_name' | 'last_name'>) => `${first_name} ${last_name}`.trim() || email
