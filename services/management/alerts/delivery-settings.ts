import { REDACTED } from '@eyrie/contract/address'
import {
  type SmsSettings,
  type SmtpSettings,
  smsSettings,
  smtpSettings,
} from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Transaction } from '../db/database.ts'
import { setting } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** A kind of delivery settings, stored under its name. */
interface SettingsKind<Settings> {
  name: string
  schema: z.ZodType<Settings>
  defaults: Settings
  /** Stored encrypted. */
  secretKeys: readonly (keyof Settings & string)[]
}

export const smsKind: SettingsKind<SmsSettings> = {
  name: 'sms',
  schema: smsSettings,
  defaults: { sms_provider: '', sms_auth_key: '', sms_auth_token: '', sms_from: '', sms_to: '' },
  secretKeys: ['sms_auth_key', 'sms_auth_token'],
}

export const smtpKind: SettingsKind<SmtpSettings> = {
  name: 'smtp',
  schema: smtpSettings,
  defaults: {
    smtp_host: '',
    smtp_port: 587,
    smtp_auth: false,
    smtp_username: '',
    smtp_password: '',
    smtp_from: '',
    smtp_to: '',
    smtp_attachment: false,
  },
  secretKeys: ['smtp_password'],
}

/** Returns the settings with decrypted secrets. */
export async function readDeliverySettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
  secrets: Secrets,
): Promise<S> {
  const stored = await readStored(tx, kind)
  return kind.schema.parse(mapSecrets(stored, kind, secrets.open))
}

/** Returns the settings with a placeholder for each secret that is set. */
export async function readRedactedSettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
): Promise<S> {
  const stored = await readStored(tx, kind)
  return kind.schema.parse(mapSecrets(stored, kind, sealed => (sealed === '' ? '' : REDACTED)))
}

/** Updates the settings in `changes`. A secret that is sent back as the placeholder remains unchanged. */
export async function updateDeliverySettings<S extends object>(
  tx: Transaction,
  kind: SettingsKind<S>,
  changes: Partial<S>,
  secrets: Secrets,
): Promise<void> {
  const changed = Object.entries(changes).filter(
    ([key, value]) => value !== undefined && !(value === REDACTED && isSecret(kind, key)),
  )
  const sealed = mapSecrets(Object.fromEntries(changed), kind, secrets.seal)
  const value = { ...(await readStored(tx, kind)), ...sealed }
  await tx
    .insert(setting)
    .values({ name: kind.name, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}

async function readStored<S extends object>(
  tx: Transaction,
  { name, defaults }: SettingsKind<S>,
): Promise<object> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, name))
  return { ...defaults, ...(row?.value as object | undefined) }
}

const isSecret = <S extends object>({ secretKeys }: SettingsKind<S>, key: string) =>
  (secretKeys as readonly string[]).includes(key)

function mapSecrets<S extends object>(
  values: object,
  kind: SettingsKind<S>,
  transform: (text: string) => string,
): Record<string, unknown> {
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, isSecret(kind, key) ? transform(value) : value]),
  )
}
