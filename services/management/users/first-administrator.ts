import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import { readOrCreateSecret } from '@eyrie/kit/secret-file'
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { role, user } from '../db/schema/index.ts'
import type { Passwords } from './passwords.ts'
import { normalizeEmail } from './sign-in.ts'

// On the first start there is no user who could create users. The management service therefore
// creates a superadmin, with configured credentials or with a generated password, which it also
// stores in a file for the operator.

const OPERATION = 'first start'
const DEFAULT_EMAIL = 'admin@localhost'

export interface FirstAdministratorOptions {
  /** Folder of the appliance's data. */
  data: string
  /**
   * Credentials from the environment. Without them, the e-mail address has a default and the
   * password is generated.
   */
  configured: { email: string | undefined; password: string | undefined }
  passwords: Passwords
  log: Log
  /** Prints text for the operator, which must not be logged. */
  print(text: string): void
}

/**
 * Returns the path of a file with two lines: the e-mail address and the generated password of the
 * first administrator.
 */
const passwordFile = (data: string) => resolve(data, 'secrets/admin')

/**
 * Deletes the file with the generated password if it is that of this user. To be called after the
 * user has changed the password.
 */
export function deleteFirstPassword(data: string, email: string): void {
  const file = passwordFile(data)
  if (!existsSync(file)) return
  const [storedEmail = ''] = readFileSync(file, 'utf8').split('\n')
  if (normalizeEmail(storedEmail) === normalizeEmail(email)) rmSync(file)
}

/** Returns 120 random bits as base64url. */
export const generatePassword = () => randomBytes(15).toString('base64url')

/**
 * Creates a superadmin if none exists. A generated password is printed once and
 * stored in `secrets/admin`.
 */
export async function ensureFirstAdministrator(
  database: Database,
  { data, configured, passwords, log, print }: FirstAdministratorOptions,
): Promise<void> {
  if (await database.system(OPERATION, hasSuperadmin)) return

  const email = configured.email ?? DEFAULT_EMAIL
  const file = passwordFile(data)
  // Store the password before the user is created: after a crash in between, the
  // password is still known.
  const password = configured.password ?? readOrGeneratePassword(file, email)
  const passwordHash = await passwords.hash(password)

  const isCreated = await database.system(OPERATION, async tx => {
    // Another instance of the management service may start at the same moment.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
    if (await hasSuperadmin(tx)) return false
    await insertSuperadmin(tx, email, passwordHash)
    return true
  })

  if (!isCreated) return
  if (configured.password !== undefined) {
    log.info({ email }, 'created the first administrator')
    return
  }
  log.warn(
    { email, file },
    'created the first administrator: change the generated password, which is in the file',
  )
  print(
    `The first administrator is ${email} with the password ${password}\nIt is not shown again: sign in and change it.`,
  )
}

/**
 * Returns the password in the file. Creates the file with a generated password if it does not
 * exist.
 */
function readOrGeneratePassword(file: string, email: string): string {
  const content = readOrCreateSecret(file, () => `${email}\n${generatePassword()}\n`)
  return content.trim().split('\n').at(-1)!
}

async function insertSuperadmin(
  tx: Transaction,
  email: string,
  passwordHash: string,
): Promise<void> {
  // `seed` has created all roles.
  const superadmin = firstRow(await tx.select().from(role).where(eq(role.role_key, 'superadmin')))
  const names = { first_name: 'Eyrie', last_name: 'Administrator', user_name: 'Administrator' }
  await tx.insert(user).values({
    email,
    ...names,
    role_id: superadmin.role_id,
    is_verified: true,
    password_hash: passwordHash,
  })
}

const hasSuperadmin = async (tx: Transaction) => (await listSuperadminEmails(tx, 1)).length > 0

/** Returns the e-mail addresses of at most `limit` superadmins. */
export async function listSuperadminEmails(tx: Transaction, limit: number): Promise<string[]> {
  const rows = await tx
    .select({ email: user.email })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(eq(role.role_key, 'superadmin'))
    .orderBy(user.email)
    .limit(limit)
  return rows.map(({ email }) => email)
}
