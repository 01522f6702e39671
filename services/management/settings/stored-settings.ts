import { createHash } from 'node:crypto'
import { REDACTED } from '@eyrie/contract/address'
import { eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Transaction } from '../db/database.ts'
import { setting } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

/**
 * A kind of settings with secrets, such as the settings of e-mail. The table
 * `setting` has one row for each kind.
 */
export interface SettingsKind<Settings> {
  /** Name of the `setting` row. */
  name: string
  schema: z.ZodType<Settings>
  defaults: Settings
  /** Keys of the values that are stored encrypted. */
  secretKeys: readonly (keyof Settings & string)[]
}

/** Returns the settings with decrypted secrets. */
export async function readStoredSettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
  secrets: Secrets,
): Promise<S> {
  const stored = await readEncrypted(tx, kind)
  const decrypted = mapSecrets(stored, kind, secrets.decrypt)
  return kind.schema.parse(decrypted)
}

/** Returns the settings with a placeholder for each secret that is set. */
export async function readRedactedSettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
): Promise<S> {
  const stored = await readEncrypted(tx, kind)
  const redacted = mapSecrets(stored, kind, secret => (secret === '' ? '' : REDACTED))
  return kind.schema.parse(redacted)
}

/**
 * Updates the settings in `changes`. Where a secret is the placeholder, the stored
 * secret remains unchanged.
 */
export async function updateStoredSettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
  changes: Partial<S>,
  secrets: Secrets,
): Promise<void> {
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(changes)) {
    const isPlaceholder = value === REDACTED && isSecret(kind, key)
    if (value !== undefined && !isPlaceholder) changed[key] = value
  }

  const stored = await readEncrypted(tx, kind)
  const value = { ...stored, ...mapSecrets(changed, kind, secrets.encrypt) }
  await tx
    .insert(setting)
    .values({ name: kind.name, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}

/** Returns the entity tag of the settings. It reveals no secrets, because they are encrypted. */
export async function readSettingsEtag<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
): Promise<string> {
  const stored = JSON.stringify(await readEncrypted(tx, kind))
  return `"${createHash('sha256').update(stored).digest('base64url')}"`
}

/** Makes other transactions that lock settings wait until the end of this one. */
export async function lockSettings(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie settings'))`)
}

/**
 * Returns the settings with secrets still encrypted. Settings that were never changed
 * have their defaults.
 */
async function readEncrypted<S extends object>(
  tx: Transaction,
  { name, defaults }: SettingsKind<S>,
): Promise<object> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, name))
  return { ...defaults, ...(row?.value as object | undefined) }
}

const isSecret = <S extends object>({ secretKeys }: SettingsKind<S>, key: string) =>
  (secretKeys as readonly string[]).includes(key)

/** Returns the values with every secret transformed. Secrets are texts. */
function mapSecrets<S extends object>(
  values: object,
  kind: SettingsKind<S>,
  transform: (text: string) => string,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(values)) {
    mapped[key] = isSecret(kind, key) ? transform(value) : value
  }
  return mapped
}
