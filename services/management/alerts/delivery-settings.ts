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

/** How messages are sent: a name under which it is stored, what holds before it was set, and what is sealed. */
interface Kind<Settings> {
  name: string
  schema: z.ZodType<Settings>
  standard: Settings
  secret: readonly (keyof Settings & string)[]
}

export const sms: Kind<SmsSettings> = {
  name: 'sms',
  schema: smsSettings,
  standard: { sms_provider: '', sms_auth_key: '', sms_auth_token: '', sms_from: '', sms_to: '' },
  secret: ['sms_auth_key', 'sms_auth_token'],
}

export const smtp: Kind<SmtpSettings> = {
  name: 'smtp',
  schema: smtpSettings,
  standard: {
    smtp_host: '',
    smtp_port: 587,
    smtp_auth: false,
    smtp_username: '',
    smtp_password: '',
    smtp_from: '',
    smtp_to: '',
    smtp_attachment: false,
  },
  secret: ['smtp_password'],
}

/** The settings with their secrets as they are used. */
export async function readSettings<S extends object>(
  tx: Transaction,
  kind: Kind<S>,
  secrets: Secrets,
): Promise<S> {
  const stored = await readStored(tx, kind)
  return kind.schema.parse(mapSecrets(stored, kind, secrets.open))
}

/** The settings as they may be shown: of secrets, only whether they are set. */
export async function showSettings<S extends object>(tx: Transaction, kind: Kind<S>): Promise<S> {
  const stored = await readStored(tx, kind)
  return kind.schema.parse(mapSecrets(stored, kind, sealed => (sealed === '' ? '' : REDACTED)))
}

/** What is left out stays as it is, and so does a secret that is sent back hidden. */
export async function changeSettings<S extends object>(
  tx: Transaction,
  kind: Kind<S>,
  changes: Partial<S>,
  secrets: Secrets,
): Promise<void> {
  const isKept = ([key, value]: [string, unknown]) =>
    value === undefined || (value === REDACTED && kind.secret.some(it => it === key))
  const given = Object.fromEntries(Object.entries(changes).filter(entry => !isKept(entry)))
  const value = { ...(await readStored(tx, kind)), ...mapSecrets(given, kind, secrets.seal) }
  await tx
    .insert(setting)
    .values({ name: kind.name, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}

async function readStored<S extends object>(tx: Transaction, { name, standard }: Kind<S>): Promise<object> {
  const [found] = await tx.select().from(setting).where(eq(setting.name, name))
  return { ...standard, ...(found?.value as object | undefined) }
}

const mapSecrets = <S extends object>(
  values: object,
  { secret }: Kind<S>,
  change: (text: string) => string,
) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      secret.some(it => it === key) ? change(value) : value,
    ]),
  )
