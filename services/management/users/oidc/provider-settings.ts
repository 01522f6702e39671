import { REDACTED } from '@eyrie/contract/address'
import { type OidcSettings, oidcSettings } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { setting } from '../../db/schema/index.ts'
import { fieldError } from '../../errors/field-errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'

// The settings of the identity provider: a row of the table `setting`, in which the secret of the
// client is encrypted.

const NAME = 'oidc'

const DEFAULTS: OidcSettings = {
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

/** The settings that every sign-in needs. */
const REQUIRED = ['oidc_name', 'oidc_issuer', 'oidc_client_id', 'oidc_console_url'] as const

/** Returns the stored settings, in which the secret is encrypted. */
async function readStored(tx: Transaction): Promise<OidcSettings> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, NAME))
  return oidcSettings.parse({ ...DEFAULTS, ...(row?.value as object | undefined) })
}

/** Returns the settings with a placeholder for the secret. */
export async function readRedactedProvider(tx: Transaction): Promise<OidcSettings> {
  const stored = await readStored(tx)
  return { ...stored, oidc_client_secret: stored.oidc_client_secret === '' ? '' : REDACTED }
}

/** Returns the settings with the secret, or undefined while signing in with a provider is off. */
export async function findProvider(
  tx: Transaction,
  secrets: Secrets,
): Promise<OidcSettings | undefined> {
  const stored = await readStored(tx)
  if (!stored.oidc_enabled) return undefined
  return { ...stored, oidc_client_secret: secrets.decrypt(stored.oidc_client_secret) }
}

/** Returns the name of the provider, or undefined while signing in with a provider is off. */
export async function findProviderName(tx: Transaction): Promise<string | undefined> {
  const { oidc_enabled: oidcEnabled, oidc_name: oidcName } = await readStored(tx)
  return oidcEnabled ? oidcName : undefined
}

/**
 * Updates the settings in `changes`. If the secret is omitted or is the placeholder, it remains
 * unchanged, but only for the same issuer: another issuer must not receive it. Throws `EyrieError`
 * (`syntax`) if the settings cannot be used.
 */
export async function updateProvider(
  tx: Transaction,
  changes: Partial<OidcSettings>,
  secrets: Secrets,
): Promise<void> {
  const stored = await readStored(tx)
  const { oidc_client_secret: secret = REDACTED, ...others } = changes
  const updated = { ...stored, ...others }
  const retainsSecret = secret === REDACTED
  const hasStoredSecret = stored.oidc_client_secret !== ''
  const isOtherIssuer = updated.oidc_issuer !== stored.oidc_issuer
  if (retainsSecret && hasStoredSecret && isOtherIssuer) {
    throw fieldError('oidc_client_secret', 'must be sent again, because the issuer changes')
  }

  const missing = REQUIRED.find(key => updated[key].trim() === '')
  if (updated.oidc_enabled && missing) {
    throw fieldError(missing, 'is required to switch the provider on')
  }

  const oidcClientSecret = retainsSecret ? stored.oidc_client_secret : secrets.encrypt(secret)
  const value = { ...updated, oidc_client_secret: oidcClientSecret }
  await tx
    .insert(setting)
    .values({ name: NAME, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}
