import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'
import { readOrCreateSecret } from '../secrets/secret-file.ts'
import type { Passwords } from './passwords.ts'

const OPERATION = 'first start'
const DEFAULT_EMAIL = 'admin@localhost'

export interface FirstAdministratorOptions {
  /** Folder of the appliance's data. */
  data: string
  /** Credentials set by the owner. Missing ones are generated. */
  configured: { email: string | undefined; password: string | undefined }
  passwords: Passwords
  log: Log
}

const passwordFile = (data: string) => resolve(data, 'secrets/admin')

/** Deletes the file with the generated password if it belongs to this user, whose password has been changed. */
export function deleteFirstPassword(data: string, email: string): void {
  const file = passwordFile(data)
  if (!existsSync(file)) return
  const [storedEmail = ''] = readFileSync(file, 'utf8').split('\n')
  if (storedEmail.toLowerCase() === email.trim().toLowerCase()) rmSync(file)
}

/** Returns 120 random bits as base64url. */
export const generatePassword = () => randomBytes(15).toString('base64url')

/**
 * Creates a superadmin if there is none. A generated password is logged once and stored in `secrets/admin`, with e-mail
 * address and password on one line each.
 */
export async function ensureFirstAdministrator(
  database: Database,
  { data, configured, passwords, log }: FirstAdministratorOptions,
): Promise<void> {
  if (await database.system(OPERATION, hasSuperadmin)) return
  const email = configured.email ?? DEFAULT_EMAIL
  const file = passwordFile(data)
  // Store the password before the user, so that a crash cannot leave a user without a known password.
  const password = configured.password ?? storeGeneratedPassword(file, email)
  const password_hash = await passwords.hash(password)

  const isCreated = await database.system(OPERATION, async tx => {
    // Another management process may be starting at the same moment.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
    if (await hasSuperadmin(tx)) return false
    const [superadmin] = await tx.select().from(role).where(eq(role.role_key, 'superadmin'))
    const names = { first_name: 'Eyrie', last_name: 'Administrator', user_name: 'Administrator' }
    await tx
      .insert(user)
      .values({ email, ...names, role_id: superadmin!.role_id, is_verified: true, password_hash })
    return true
  })

  if (!isCreated) return
  if (configured.password === undefined)
    log.warn(
      { email, generated_password: password, file },
      'created the first administrator: change the generated password',
    )
  else log.info({ email }, 'created the first administrator')
}

/** Returns the password in the file, which it creates if it does not exist. */
function storeGeneratedPassword(file: string, email: string): string {
  const content = readOrCreateSecret(file, () => `${email}\n${generatePassword()}\n`)
  return content.trim().split('\n').at(-1)!
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
