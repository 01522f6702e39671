import { REDACTED } from '@eyrie/contract/address'
import { type OidcSettings, oidcSettings } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { setting } from '../../db/schema/index.ts'
import { fieldError } from '../../errors/field-errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'

// The settings of the identity provider. They are a row of the table `setting`, in which the client
// secret is encrypted.

/** Name of the `setting` row. */
const SETTING = 'oidc'

const DEFAULT_SETTINGS: OidcSettings = {
  oidc_enabled: false,
  oidc_name: '',
  oidc_issuer: '',
  oidc_client_id: '',
  oidc_client_secret: '',
  oidc_scopes: 'openid profile email',
  oidc_groups_claim: 'groups',
  oidc_group_roles: [],
  oidc_creates_users: false,
  oidc_links_by_email: false,
  oidc_console_url: '',
}

/** The settings that must not be empty while signing in with the provider is enabled. */
const REQUIRED_SETTINGS = [
  'oidc_name',
  'oidc_issuer',
  'oidc_client_id',
  'oidc_console_url',
] as const

/** Returns the settings with the secret still encrypted. */
async function readStored(tx: Transaction): Promise<OidcSettings> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, SETTING))
  return oidcSettings.parse({ ...DEFAULT_SETTINGS, ...(row?.value as object | undefined) })
}

/** Returns the settings with a placeholder for the secret. */
export async function readRedactedProvider(tx: Transaction): Promise<OidcSettings> {
  const stored = await readStored(tx)
  return { ...stored, oidc_client_secret: stored.oidc_client_secret === '' ? '' : REDACTED }
}

/** Returns the settings with the decrypted secret; undefined while the provider is disabled. */
export async function findProvider(
  tx: Transaction,
  secrets: Secrets,
): Promise<OidcSettings | undefined> {
  const stored = await readStored(tx)
  if (!stored.oidc_enabled) return undefined
  return { ...stored, oidc_client_secret: secrets.decrypt(stored.oidc_client_secret) }
}

/** Returns the name of the provider; undefined while the provider is disabled. */
export async function findProviderName(tx: Transaction): Promise<string | undefined> {
  const stored = await readStored(tx)
  return stored.oidc_enabled ? stored.oidc_name : undefined
}

/** Returns the issuer of the provider; undefined while the provider is disabled. */
export async function findEnabledIssuer(tx: Transaction): Promise<string | undefined> {
  const stored = await readStored(tx)
  return stored.oidc_enabled ? stored.oidc_issuer : undefined
}

/**
 * Updates the settings in `changes`. The stored secret is retained if `changes` omits the secret or
 * contains its placeholder. Throws `EyrieError` (`syntax`) if a required setting is missing, or if
 * the secret is to be retained for another issuer, which must not receive it.
 */
export async function updateProvider(
  tx: Transaction,
  changes: Partial<OidcSettings>,
  secrets: Secrets,
): Promise<void> {
  const stored = await readStored(tx)
  const { oidc_client_secret: sentSecret = REDACTED, ...otherChanges } = changes
  const retainsSecret = sentSecret === REDACTED
  const storedSecret = stored.oidc_client_secret
  const value: OidcSettings = {
    ...stored,
    ...otherChanges,
    oidc_client_secret: retainsSecret ? storedSecret : secrets.encrypt(sentSecret),
  }

  const isOtherIssuer = value.oidc_issuer !== stored.oidc_issuer
  if (retainsSecret && storedSecret !== '' && isOtherIssuer) {
    throw fieldError('oidc_client_secret', 'must be sent again, because the issuer changes')
  }
  const missing = REQUIRED_SETTINGS.find(name => value[name].trim() === '')
  if (value.oidc_enabled && missing) {
    throw fieldError(missing, 'is required to switch the provider on')
  }
  await tx
    .insert(setting)
    .values({ name: SETTING, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}
