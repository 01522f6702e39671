import { REDACTED } from '@eyrie/contract/address'
import { type OidcSettings, oidcSettings } from '@eyrie/contract/management/index'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { Transaction } from '../../db/database.ts'
import { fieldError } from '../../errors/field-errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import {
  lockSettings,
  readRedactedSettings,
  readSettingsEtag,
  readStoredSettings,
  type SettingsKind,
  updateStoredSettings,
} from '../../settings/stored-settings.ts'

/** The settings of the identity provider. */
const OIDC_SETTINGS: SettingsKind<OidcSettings> = {
  name: 'oidc',
  schema: oidcSettings,
  defaults: {
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
  },
  secretKeys: ['oidc_client_secret'],
}

/** The settings that must not be empty while signing in with the provider is enabled. */
const REQUIRED_SETTINGS = [
  'oidc_name',
  'oidc_issuer',
  'oidc_client_id',
  'oidc_console_url',
] as const

/** Returns the settings with a placeholder for the secret. */
export const readRedactedProvider = (tx: Transaction): Promise<OidcSettings> =>
  readRedactedSettings(tx, OIDC_SETTINGS)

/** Returns the entity tag of the settings. */
export const readProviderEtag = (tx: Transaction): Promise<string> =>
  readSettingsEtag(tx, OIDC_SETTINGS)

/** Returns the settings with the decrypted secret; undefined while the provider is disabled. */
export async function findProvider(
  tx: Transaction,
  secrets: Secrets,
): Promise<OidcSettings | undefined> {
  const stored = await readStoredSettings(tx, OIDC_SETTINGS, secrets)
  return stored.oidc_enabled ? stored : undefined
}

/** Returns the name of the provider; undefined while the provider is disabled. */
export async function findProviderName(tx: Transaction): Promise<string | undefined> {
  const stored = await readRedactedProvider(tx)
  return stored.oidc_enabled ? stored.oidc_name : undefined
}

/** Returns the issuer of the provider; undefined while the provider is disabled. */
export async function findEnabledIssuer(tx: Transaction): Promise<string | undefined> {
  const stored = await readRedactedProvider(tx)
  return stored.oidc_enabled ? stored.oidc_issuer : undefined
}

/**
 * Updates the settings in `changes`. The stored secret is retained if `changes` omits the secret or
 * contains its placeholder. Throws `EyrieError` (`syntax`) if a required setting is missing, or if
 * the secret is to be retained for another issuer, which must not receive it. Throws `EyrieError`
 * (`precondition`) if `ifMatch` is not the entity tag of the stored settings.
 */
export async function updateProvider(
  tx: Transaction,
  changes: Partial<OidcSettings>,
  { secrets, ifMatch }: { secrets: Secrets; ifMatch: string | undefined },
): Promise<void> {
  await lockSettings(tx)
  assertIfMatch(ifMatch, await readProviderEtag(tx))
  const stored = await readRedactedProvider(tx)
  const { oidc_client_secret: sentSecret = REDACTED } = changes
  const value = { ...stored, ...changes }
  const retainsSecret = sentSecret === REDACTED && stored.oidc_client_secret !== ''
  if (retainsSecret && value.oidc_issuer !== stored.oidc_issuer) {
    throw fieldError('oidc_client_secret', 'must be sent again, because the issuer changes')
  }
  const missing = REQUIRED_SETTINGS.find(name => value[name].trim() === '')
  if (value.oidc_enabled && missing) {
    throw fieldError(missing, 'is required to switch the provider on')
  }
  await updateStoredSettings(tx, OIDC_SETTINGS, changes, secrets)
}
